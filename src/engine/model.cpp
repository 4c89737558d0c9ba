#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "heddle/graph.h"
#include "src/engine/executor.h"
#include "src/engine/op_run.h"
#include "src/engine/sources.h"
#include "src/support/text.h"

namespace heddle {

using ir::Graph;
using ir::Leaf;
using ir::Node;
using ir::Source;

struct Model::State {
  State(Engine made_by, Spec of)
      : engine(std::move(made_by)),
        spec(std::move(of)),
        pool(engine.threads()),
        buffers(std::make_shared<engine::BufferPool>()),
        leaves(spec.graph().values.size()) {}

  Engine engine;
  Spec spec;
  runtime::ThreadPool pool;
  std::shared_ptr<engine::BufferPool> buffers;
  std::vector<Array> leaves;                      ///< One entry a value; weights and generated inputs filled.
  std::vector<std::optional<Attention>> kernels;  ///< One entry a node.
};

namespace {

AttentionSpec spec_of(const Graph& graph, const Node& node) {
  const ir::AttentionShape shape = ir::attention_shape(node, graph.input_types(node));
  AttentionSpec spec;
  if (node.mask) spec.mask = Mask(Condition(node.mask));
  if (node.score) spec.score = Score(Real(node.score));
  spec.dtype = graph.input_types(node)[0].dtype;
  spec.head_dim = shape.head_dim;
  spec.value_dim = shape.value_dim;
  return spec;
}

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Leaf& leaf : graph.inputs) names.push_back(graph.values[leaf.value].name);
  return names;
}

void check_input(const std::string& name, const Array& given, const ir::TensorType& type) {
  const ir::TensorType found{given.view.dtype, given.view.shape};
  if (!(found == type)) {
    throw UserError(
        fmt::format("input {} is {}, expected {}", support::quote(name), ir::to_string(found), ir::to_string(type)));
  }
  if (!given.view.contiguous())
    throw UserError(fmt::format("input {} is not dense", support::quote(name)), "copy it to a dense array");
  if (!given.view.data && given.view.elements() > 0) throw UserError(fmt::format("input {} has no data", support::quote(name)));
}

/// The leaves with the caller's inputs put in. Throws UserError for a wrong or missing one.
std::vector<Array> bind(const Graph& graph, std::vector<Array> values, const std::map<std::string, Array>& inputs) {
  const std::vector<std::string> names = input_names(graph);
  for (const auto& [name, given] : inputs) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw UserError(fmt::format("the spec has no input {}", support::quote(name)), "inputs: " + support::list(names));
    }
    const int value = graph.inputs[found - names.begin()].value;
    check_input(name, given, graph.type(value));
    values[value] = given;
  }
  for (const Leaf& leaf : graph.inputs) {
    if (values[leaf.value].view.data || inputs.contains(graph.values[leaf.value].name)) continue;
    throw UserError(fmt::format("input {} is not given and has no source", support::quote(graph.values[leaf.value].name)),
                    "give it, or a \"fill\", \"values\" or \"text\" in the spec");
  }
  return values;
}

}  // namespace

Model::Model(Engine engine, Spec spec) : state_(std::make_shared<State>(std::move(engine), std::move(spec))) {
  const Graph& graph = state_->spec.graph();
  for (const std::vector<Leaf>* leaves : {&graph.inputs, &graph.weights}) {
    for (const Leaf& leaf : *leaves) {
      if (leaf.source.kind == Source::Kind::None) continue;
      state_->leaves[leaf.value] = engine::generate(leaf.source, graph.type(leaf.value), state_->pool);
    }
  }
  for (const Node& node : graph.nodes) {
    std::optional<Attention>& kernel = state_->kernels.emplace_back();
    if (node.op != ir::GraphOp::Attention) continue;
    kernel = engine::at_node(node, [&] { return state_->engine.attention(spec_of(graph, node)); });
  }
}

RunResult Model::run(const std::map<std::string, Array>& inputs, const RunOptions& options) {
  const Graph& graph = state_->spec.graph();
  const engine::Executor executor(graph, state_->kernels, state_->pool, *state_->buffers);
  return executor.execute(bind(graph, state_->leaves, inputs), {.reference = false, .keep_attention = options.keep_attention});
}

const Spec& Model::spec() const { return state_->spec; }

RunResult Model::run_reference(const std::map<std::string, Array>& inputs) {
  const Graph& graph = state_->spec.graph();
  const engine::Executor executor(graph, state_->kernels, state_->pool, *state_->buffers);
  return executor.execute(bind(graph, state_->leaves, inputs), {.reference = true});
}

}  // namespace heddle
