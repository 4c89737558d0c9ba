// Helpers of the graph tests: one-node specs, arrays from lists, elements as doubles.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "heddle/graph.h"

namespace heddle::test {

/// An engine that touches no disk.
inline Engine quiet_engine(int threads = 2) {
  EngineOptions options;
  options.disk_cache = false;
  options.threads = threads;
  return Engine(options);
}

template <typename T>
constexpr DType dtype_of() {
  return std::is_same_v<T, float> ? DType::Float32 : std::is_same_v<T, int32_t> ? DType::Int32 : DType::Int64;
}

template <typename T>
Array array_of(const std::vector<int64_t>& shape, const std::vector<T>& values) {
  Array array = Array::make(shape, dtype_of<T>());
  std::copy(values.begin(), values.end(), static_cast<T*>(array.view.data));
  return array;
}

inline double element(const Array& array, int64_t i) {
  switch (array.view.dtype) {
    case DType::Float32: return static_cast<const float*>(array.view.data)[i];
    case DType::Float64: return static_cast<const double*>(array.view.data)[i];
    case DType::Int32: return static_cast<const int32_t*>(array.view.data)[i];
    default: return static_cast<double>(static_cast<const int64_t*>(array.view.data)[i]);
  }
}

inline std::vector<double> elements(const Array& array) {
  std::vector<double> values;
  for (int64_t i = 0; i < array.view.elements(); ++i) values.push_back(element(array, i));
  return values;
}

/// A list of numbers that looks random and is the same everywhere.
inline std::vector<float> numbers(int64_t count, uint32_t seed = 1) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>(seed >> 16) % 2000 - 1000) / 500;
  }
  return values;
}

inline std::string json_list(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

/// A spec of one node "y" over inputs a, b, c, ... of these arrays.
inline std::string one_node(const std::string& op, const std::string& attrs, const std::vector<Array>& inputs,
                            const std::string& outputs = "[\"y\"]") {
  std::string declared, names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string comma = i ? ", " : "", name(1, static_cast<char>('a' + i));
    declared += comma + "{\"name\": \"" + name + "\", \"shape\": " + json_list(inputs[i].view.shape) + ", \"dtype\": \"" +
                to_string(inputs[i].view.dtype) + "\"}";
    names += comma + "\"" + name + "\"";
  }
  return "{\"inputs\": [" + declared + "], \"nodes\": [{\"op\": \"" + op + "\", \"inputs\": [" + names +
         "], \"outputs\": " + outputs + ", \"attrs\": {" + attrs + "}}], \"outputs\": " + outputs + "}";
}

inline std::map<std::string, Array> named(const std::vector<Array>& inputs) {
  std::map<std::string, Array> map;
  for (size_t i = 0; i < inputs.size(); ++i) map[std::string(1, static_cast<char>('a' + i))] = inputs[i];
  return map;
}

/// Runs one node and returns "y".
inline Array run_node(const std::string& op, const std::string& attrs, const std::vector<Array>& inputs, int threads = 2) {
  Model model(quiet_engine(threads), Spec::parse(one_node(op, attrs, inputs)));
  return model.run(named(inputs)).outputs.at("y");
}

/// The same in float64.
inline Array judge_node(const std::string& op, const std::string& attrs, const std::vector<Array>& inputs) {
  Model model(quiet_engine(), Spec::parse(one_node(op, attrs, inputs)));
  return model.run_reference(named(inputs)).outputs.at("y");
}

}  // namespace heddle::test
