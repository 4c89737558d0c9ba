// One evaluation of one node, and the evaluators of all graph operations: plain code by ONNX's definitions, in float32 or
// float64.
//
// An evaluator reads dense inputs and returns its outputs dense, or as views of an input's memory (Reshape); nothing it returns
// is written again. Where the graph says float32, bfloat16 or float16, arrays are that in a run and float64 in a reference run;
// evaluators follow the dtype of what they are given.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "heddle/error.h"
#include "heddle/graph.h"
#include "runtime/thread_pool.h"
#include "src/engine/buffers.h"
#include "src/ir/graph.h"
#include "src/support/half.h"

namespace heddle::engine {

using Arrays = std::vector<Array>;

struct OpRun {
  const ir::Node& node;
  Arrays inputs;
  std::vector<std::vector<int64_t>> output_shapes;
  runtime::ThreadPool& pool;
  BufferPool& buffers;
  bool reference = false;             ///< float64 in place of other reals, attention by the judge.
  DType declared = DType::Float32;    ///< Of the first input, in the graph.
  const Attention* kernel = nullptr;  ///< Attention, unless reference.
  AttentionUse* use = nullptr;        ///< Attention: filled in when given.
  std::map<std::string, Array> tables{};  ///< Attention: of mask and score, by name.

  Array output(DType dtype, size_t index = 0) const { return buffers.make(output_shapes[index], dtype); }
  DType dtype() const { return inputs[0].view.dtype; }
};

#define X(name, fewest, most, attributes) Arrays evaluate_##name(const OpRun& run);
HEDDLE_GRAPH_OPS(X)
#undef X

/// The evaluator of the node's op. A UserError names the node.
Arrays evaluate(const OpRun& run);

/// Runs `work`, and puts the node's name before the message of a UserError it throws.
template <typename Work>
auto at_node(const ir::Node& node, Work work) {
  try {
    return work();
  } catch (const UserError& error) {
    throw UserError("node '" + node.name + "': " + error.message(), error.span(), error.hint());
  }
}

template <typename T>
const T* data_of(const Array& array) {
  return static_cast<const T*>(array.view.data);
}
template <typename T>
T* data_of(Array& array) {
  return static_cast<T*>(array.view.data);
}

/// Calls f(T()) with the element type of a dtype that graphs hold.
template <typename F>
auto by_dtype(DType dtype, F f) {
  switch (dtype) {
    case DType::Float32:
      return f(float());
    case DType::Int32:
      return f(int32_t());
    case DType::Int64:
      return f(int64_t());
    case DType::Float64:
      return f(double());
    case DType::BFloat16:
      return f(support::BFloat16());
    case DType::Float16:
      return f(support::Float16());
    default:
      throw InternalError("graph executor", "no evaluator for " + to_string(dtype));
  }
}

/// The same for reals only.
template <typename F>
auto by_real(DType dtype, F f) {
  return dtype == DType::Float64 ? f(double()) : f(float());
}

}  // namespace heddle::engine
