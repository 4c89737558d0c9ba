#include "src/engine/model_measure.h"

#include <algorithm>
#include <cmath>

#include "src/engine/difference.h"
#include "src/engine/op_run.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

double element(const Array& array, int64_t i) {
  return by_dtype(array.view.dtype, [&](auto zero) { return static_cast<double>(data_of<decltype(zero)>(array)[i]); });
}

OutputCheck compare(const std::string& name, const Array& found, const Array& expected, double bar) {
  OutputCheck check{.name = name};
  for (int64_t i = 0; i < found.view.elements(); ++i) {
    check.error = std::max(check.error, difference(element(found, i), element(expected, i)));
  }
  check.bar = support::is_operand_type(found.view.dtype) ? bar * root_mean_square(expected) : 0;
  return check;
}

}  // namespace

double output_bar(const ir::Graph& graph) {
  constexpr double kLargest = 8;  // elements in root mean squares, and roundings on their way
  double bar = kOutputBar;
  for (const ir::Value& value : graph.values) {
    const bool half = support::is_operand_type(value.type.dtype) && value.type.dtype != DType::Float32;
    if (half) bar = std::max(bar, kLargest * support::unit_roundoff(value.type.dtype));
  }
  return bar;
}

ModelMeasure measure_model(Model& model, const std::map<std::string, Array>& inputs, int repeats) {
  ModelMeasure measure;
  for (int i = 0; i < repeats; ++i) {
    const support::Timer timer;
    measure.last = model.run(inputs, {.keep_attention = i + 1 == repeats});
    measure.total.runs.push_back(timer.milliseconds());
    measure.nodes.resize(measure.last.times.size());
    for (size_t node = 0; node < measure.nodes.size(); ++node) {
      measure.nodes[node].name = measure.last.times[node].name;
      measure.nodes[node].op = measure.last.times[node].op;
      measure.nodes[node].times.runs.push_back(measure.last.times[node].milliseconds);
    }
  }
  return measure;
}

std::vector<OutputCheck> check_outputs(Model& model, const std::map<std::string, Array>& inputs,
                                       const std::map<std::string, Array>& found) {
  const RunResult reference = model.run_reference(inputs);
  std::vector<OutputCheck> checks;
  for (const auto& [name, array] : found) checks.push_back(compare(name, array, reference.outputs.at(name), output_bar(model.spec().graph())));
  return checks;
}

double root_mean_square(const Array& array) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < array.view.elements(); ++i) {
    const double x = element(array, i);
    if (!std::isfinite(x)) continue;
    sum += x * x;
    ++count;
  }
  return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

}  // namespace heddle::engine
