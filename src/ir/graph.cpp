#include "src/ir/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

namespace heddle::ir {
namespace {

[[noreturn]] void broken(const Graph& graph, const std::string& what) {
  throw InternalError("graph verifier", fmt::format("graph \"{}\": {}", graph.name, what));
}

/// Marks values as they become known and refuses what breaks the order.
class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), known_(graph.values.size(), false) {}

  void run() {
    for (const Leaf& leaf : graph_.inputs) define(leaf.value);
    for (const Leaf& leaf : graph_.weights) define(leaf.value);
    for (const Node& node : graph_.nodes) check(node);
    for (int value : graph_.outputs) use(value);
  }

 private:
  void define(int value) {
    in_range(value);
    if (known_[value]) broken(graph_, fmt::format("value \"{}\" has two producers", graph_.values[value].name));
    known_[value] = true;
  }

  void use(int value) const {
    in_range(value);
    if (!known_[value]) broken(graph_, fmt::format("value \"{}\" is read before it is made", graph_.values[value].name));
  }

  void in_range(int value) const {
    if (value < 0 || value >= static_cast<int>(graph_.values.size())) broken(graph_, fmt::format("no value {}", value));
  }

  void check(const Node& node) {
    for (int value : node.inputs) use(value);
    const std::vector<TensorType> types = infer_types(node, graph_.input_types(node));
    if (types.size() != node.outputs.size())
      broken(graph_, fmt::format("node \"{}\" has a wrong number of outputs", node.name));
    for (size_t i = 0; i < types.size(); ++i) {
      define(node.outputs[i]);
      if (!(types[i] == graph_.type(node.outputs[i]))) broken(graph_, fmt::format("node \"{}\" has a wrong type", node.name));
    }
  }

  const Graph& graph_;
  std::vector<bool> known_;
};

template <typename T>
T attribute_or(const Node& node, const std::string& name, T fallback) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? fallback : std::get<T>(found->second);
}

std::string attribute_text(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::vector<int64_t>>) {
          return shape_text(held);
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

std::string names(const Graph& graph, const std::vector<int>& values) {
  std::vector<std::string> found;
  for (int value : values) found.push_back(graph.values[value].name);
  return fmt::format("{}", fmt::join(found, ", "));
}

std::string node_text(const Graph& graph, const Node& node) {
  std::vector<std::string> details, types;
  for (const auto& [name, value] : node.attributes) details.push_back(name + ": " + attribute_text(value));
  if (node.mask) details.push_back("mask: " + print(node.mask));
  if (node.score) details.push_back("score: " + print(node.score));
  for (int value : node.outputs) types.push_back(to_string(graph.type(value)));
  const std::string braces = details.empty() ? "" : fmt::format(" {{{}}}", fmt::join(details, ", "));
  return fmt::format("{} = {}({}){} : {}\n", names(graph, node.outputs), info(node.op).name, names(graph, node.inputs), braces,
                     fmt::join(types, ", "));
}

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string to_string(const TensorType& type) { return heddle::to_string(type.dtype) + " " + shape_text(type.shape); }

int64_t Node::integer(const std::string& attribute, int64_t fallback) const { return attribute_or(*this, attribute, fallback); }

double Node::real(const std::string& attribute, double fallback) const { return attribute_or(*this, attribute, fallback); }

std::string Node::text(const std::string& attribute, const std::string& fallback) const {
  return attribute_or(*this, attribute, fallback);
}

std::vector<int64_t> Node::list(const std::string& attribute, const std::vector<int64_t>& fallback) const {
  return attribute_or(*this, attribute, fallback);
}

std::vector<TensorType> Graph::input_types(const Node& node) const {
  std::vector<TensorType> types;
  for (int value : node.inputs) types.push_back(type(value));
  return types;
}

void verify(const Graph& graph) { Verifier(graph).run(); }

std::string print(const Graph& graph) {
  std::string text = fmt::format("graph {}\n", graph.name);
  for (const Leaf& leaf : graph.inputs)
    text += fmt::format("input {} : {}\n", graph.values[leaf.value].name, to_string(graph.type(leaf.value)));
  for (const Leaf& leaf : graph.weights)
    text += fmt::format("weight {} : {}\n", graph.values[leaf.value].name, to_string(graph.type(leaf.value)));
  for (const Node& node : graph.nodes) text += node_text(graph, node);
  return text + fmt::format("return {}\n", names(graph, graph.outputs));
}

}  // namespace heddle::ir
