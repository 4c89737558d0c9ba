#include "src/engine/executor.h"

#include "src/engine/parallel_for.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

constexpr int kKept = -1;

/// For each value the last node that reads it; kKept for outputs of the graph.
std::vector<int> last_readers(const ir::Graph& graph) {
  std::vector<int> last(graph.values.size(), kKept);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (int value : graph.nodes[i].inputs) last[value] = static_cast<int>(i);
    for (const auto& [name, value] : graph.nodes[i].tables) last[value] = static_cast<int>(i);
  }
  for (int value : graph.outputs) last[value] = kKept;
  return last;
}

Array widened(const Array& array, runtime::ThreadPool& pool, BufferPool& buffers) {
  if (!support::is_operand_type(array.view.dtype)) return array;
  Array out = buffers.make(array.view.shape, DType::Float64);
  parallel_for(pool, out.view.elements(), 1 << 14, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) data_of<double>(out)[i] = static_cast<double>(support::element(array.view.dtype, array.view.data, i));
  });
  return out;
}

}  // namespace

namespace {

Arrays dispatch(const OpRun& run) {
  switch (run.node.op) {
#define X(name, fewest, most, attributes) \
  case ir::GraphOp::name:                 \
    return evaluate_##name(run);
    HEDDLE_GRAPH_OPS(X)
#undef X
  }
  throw InternalError("graph executor", "node '" + run.node.name + "' has no op");
}

}  // namespace

Arrays evaluate(const OpRun& run) {
  return at_node(run.node, [&] { return dispatch(run); });
}

void Executor::step(size_t index, const ExecuteOptions& options, std::vector<Array>& values, RunResult& result) const {
  const ir::Node& node = graph_.nodes[index];
  OpRun run{node, {}, {}, pool_, buffers_, options.reference, DType::Float32, nullptr, nullptr, {}};
  if (!node.inputs.empty()) run.declared = graph_.type(node.inputs[0]).dtype;
  for (int value : node.inputs) run.inputs.push_back(values[value]);
  for (const auto& [name, value] : node.tables) run.tables[name] = values[value];
  for (int value : node.outputs) run.output_shapes.push_back(graph_.type(value).shape);
  AttentionUse use;
  if (kernels_[index] && !options.reference) run.kernel = &*kernels_[index], run.use = &use;
  const support::Timer timer;
  Arrays outputs = evaluate(run);
  result.times.push_back({node.name, ir::info(node.op).name, timer.milliseconds()});
  for (size_t i = 0; i < outputs.size(); ++i) values[node.outputs[i]] = std::move(outputs[i]);
  if (!run.kernel) return;
  if (!options.keep_attention) use.q = use.k = use.v = use.o = Array(), use.tables.clear();
  result.attentions.push_back(std::move(use));
}

RunResult Executor::execute(std::vector<Array> values, const ExecuteOptions& options) const {
  RunResult result;
  if (options.reference) {
    for (Array& value : values) {
      if (value.memory) value = widened(value, pool_, buffers_);
    }
  }
  const std::vector<int> last = last_readers(graph_);
  for (size_t index = 0; index < graph_.nodes.size(); ++index) {
    step(index, options, values, result);
    for (int value : graph_.nodes[index].inputs) {
      if (last[value] == static_cast<int>(index)) values[value] = Array();
    }
    for (const auto& [name, value] : graph_.nodes[index].tables) {
      if (last[value] == static_cast<int>(index)) values[value] = Array();
    }
  }
  for (int value : graph_.outputs) result.outputs[graph_.values[value].name] = values[value];
  return result;
}

}  // namespace heddle::engine
