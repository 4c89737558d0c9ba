#include "dsl/spec_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "dsl/spec.h"
#include "dsl/spec_attributes.h"
#include "heddle/error.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle::dsl {
namespace {

/// A node as read, before names are resolved.
struct Listed {
  JsonView view;
  ir::Node node;
  std::vector<std::string> inputs, outputs;
};

ir::GraphOp read_op(const JsonView& view) {
  const std::string name = view.string();
  if (const auto op = ir::find_graph_op(name)) return *op;
  std::vector<std::string> names;
  for (const ir::GraphOpInfo& op : ir::graph_ops()) names.push_back(op.name);
  view.fail(fmt::format("unknown op {}", support::quote(name)), suggestion(name, names));
}

std::vector<std::string> read_names(const JsonView& view) {
  std::vector<std::string> names;
  for (const JsonView& item : view.elements()) {
    names.push_back(item.string());
    if (names.back().empty()) item.fail("expected a name, found an empty string");
  }
  return names;
}

/// "outputs", else the node's name; the parts of a Split are NAME:0, NAME:1, ...
std::vector<std::string> output_names(const JsonView& view, const ir::Node& node) {
  if (view.has("outputs")) return read_names(view.at("outputs"));
  if (node.op != ir::GraphOp::Split) return {node.name};
  const int64_t parts =
      node.has("split") ? node.list("split").size() : std::clamp<int64_t>(node.integer("num_outputs", 0), 0, 4096);
  std::vector<std::string> names;
  for (int64_t i = 0; i < parts; ++i) names.push_back(fmt::format("{}:{}", node.name, i));
  return names;
}

/// The inputs and weights that mask and score read, in the order of their names.
void find_tables(const JsonView& view, const ir::Graph& graph, ir::Node& node) {
  std::map<std::string, TableDeclaration> uses = ir::tables(node.mask);
  uses.merge(ir::tables(node.score));
  for (const auto& [name, use] : uses) {
    const int value = find_value(graph, name);
    const std::vector<int64_t>& shape = graph.type(value).shape;
    if (static_cast<int>(shape.size()) != use.rank) {
      view.at("attrs").fail(fmt::format("the table '{}' has shape {}, but is read with {} {}", name, ir::shape_text(shape), use.rank,
                                        use.rank == 1 ? "index" : "indices"),
                            "give every dimension an index");
    }
    node.tables.emplace_back(name, value);
  }
}

Listed read_node(const JsonView& view, const Dims& dims, const ir::Graph& graph) {
  view.expect_keys({"op", "name", "inputs", "outputs", "attrs"});
  Listed listed{view, {}, {}, {}};
  listed.node.op = read_op(view.at("op"));
  if (!view.has("name") && !view.has("outputs")) view.fail("the node has neither \"name\" nor \"outputs\"", "give one of them");
  read_attributes(view, dims, graph, listed.node);
  find_tables(view, graph, listed.node);
  if (view.has("name")) listed.node.name = view.at("name").string();
  listed.inputs = read_names(view.at("inputs"));
  listed.outputs = output_names(view, listed.node);
  if (listed.outputs.empty()) view.fail("the node has no outputs");
  if (!view.has("name")) listed.node.name = listed.outputs[0];
  return listed;
}

/// Resolves names, sorts, infers.
class NodeBuilder {
 public:
  NodeBuilder(const JsonView& nodes, const Dims& dims, int64_t max_bytes, ir::Graph& graph)
      : view_(nodes), dims_(dims), max_bytes_(max_bytes), graph_(graph) {}

  void run() {
    read();
    link();
    for (size_t index : sorted()) place(index);
  }

 private:
  void read() {
    const std::vector<JsonView> views = view_.elements();
    if (views.size() > kMaxNodes) view_.fail(fmt::format("{} nodes, at most {} are read", views.size(), kMaxNodes));
    for (const JsonView& view : views) {
      listed_.push_back(read_node(view, dims_, graph_));
      if (!node_names_.emplace(listed_.back().node.name, listed_.size() - 1).second) duplicate_node(listed_.back());
      for (const std::string& name : listed_.back().outputs) add_producer(name);
    }
  }

  [[noreturn]] static void duplicate_node(const Listed& node) {
    node.view.fail(fmt::format("a node named {} stands before this one", support::quote(node.node.name)), "rename one of them");
  }

  void add_producer(const std::string& name) {
    const bool taken = find_value(graph_, name) >= 0;
    if (!taken && producers_.emplace(name, listed_.size() - 1).second) return;
    listed_.back().view.fail(fmt::format("a value named {} is already made by {}", support::quote(name),
                                         taken ? "an input or weight" : listed_[producers_.at(name)].view.pointer()),
                             "rename one of them");
  }

  void link() {
    readers_.resize(listed_.size());
    waiting_.resize(listed_.size(), 0);
    for (size_t index = 0; index < listed_.size(); ++index) {
      for (size_t i = 0; i < listed_[index].inputs.size(); ++i) link_input(index, i);
    }
  }

  void link_input(size_t index, size_t i) {
    const std::string& name = listed_[index].inputs[i];
    if (const auto producer = producers_.find(name); producer != producers_.end()) {
      readers_[producer->second].push_back(index);
      ++waiting_[index];
    } else if (find_value(graph_, name) < 0) {
      std::vector<std::string> known = value_names(graph_);
      for (const Listed& listed : listed_) known.insert(known.end(), listed.outputs.begin(), listed.outputs.end());
      listed_[index].view.at("inputs").at(i).fail(fmt::format("nothing is named {}", support::quote(name)),
                                                  suggestion(name, known));
    }
  }

  /// Kahn's algorithm; of the nodes that are ready the first listed one goes first.
  std::vector<size_t> sorted() {
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < listed_.size(); ++i) {
      if (waiting_[i] == 0) ready.push(i);
    }
    std::vector<size_t> order;
    for (; !ready.empty();) {
      order.push_back(ready.top());
      ready.pop();
      for (size_t reader : readers_[order.back()]) {
        if (--waiting_[reader] == 0) ready.push(reader);
      }
    }
    if (order.size() < listed_.size()) fail_cycle();
    return order;
  }

  /// The first input of a waiting node whose producer waits too.
  size_t waiting_producer(size_t index) const {
    for (const std::string& name : listed_[index].inputs) {
      const auto producer = producers_.find(name);
      if (producer != producers_.end() && waiting_[producer->second] > 0) return producer->second;
    }
    return index;
  }

  [[noreturn]] void fail_cycle() const {
    size_t at = 0;
    while (waiting_[at] == 0) ++at;
    for (size_t steps = 0; steps < listed_.size(); ++steps) at = waiting_producer(at);
    std::string path = listed_[at].node.name;
    size_t first = at, next = at;
    for (int shown = 0; shown < 8; ++shown) {
      next = waiting_producer(next);
      path = listed_[next].node.name + " -> " + path;
      first = std::min(first, next);
      if (next == at) break;
    }
    listed_[first].view.fail(fmt::format("the nodes form a cycle: {}{}", next == at ? "" : "... -> ", path),
                             "a node may only read what earlier nodes make");
  }

  void place(size_t index) {
    Listed& listed = listed_[index];
    for (const std::string& name : listed.inputs) listed.node.inputs.push_back(value_of(name));
    const std::vector<ir::TensorType> types = infer(listed);
    if (types.size() != listed.outputs.size()) {
      listed.view.fail(fmt::format("{} makes {} outputs here, {} are named", ir::info(listed.node.op).name, types.size(),
                                   listed.outputs.size()));
    }
    for (size_t i = 0; i < types.size(); ++i) {
      check_size(listed.view, listed.outputs[i], types[i], max_bytes_);
      result_index_[listed.outputs[i]] = graph_.values.size();
      listed.node.outputs.push_back(graph_.values.size());
      graph_.values.push_back({listed.outputs[i], types[i]});
    }
    graph_.nodes.push_back(std::move(listed.node));
  }

  int value_of(const std::string& name) const {
    const auto found = result_index_.find(name);
    return found == result_index_.end() ? find_value(graph_, name) : found->second;
  }

  std::vector<ir::TensorType> infer(const Listed& listed) const {
    try {
      return ir::infer_types(listed.node, graph_.input_types(listed.node));
    } catch (const ir::NodeError& error) {
      const JsonView& view = listed.view;
      if (error.input >= 0) view.at("inputs").at(error.input).fail(error.what(), error.hint);
      if (!error.attribute.empty()) view.at("attrs").at(error.attribute).fail(error.what(), error.hint);
      view.fail(error.what(), error.hint);
    }
  }

  const JsonView& view_;
  const Dims& dims_;
  int64_t max_bytes_;
  ir::Graph& graph_;
  std::vector<Listed> listed_;
  std::unordered_map<std::string, size_t> producers_, node_names_;
  std::unordered_map<std::string, int> result_index_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<int> waiting_;
};

}  // namespace

std::vector<std::string> value_names(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::Value& value : graph.values) names.push_back(value.name);
  return names;
}

int find_value(const ir::Graph& graph, const std::string& name) {
  const auto found =
      std::find_if(graph.values.begin(), graph.values.end(), [&](const ir::Value& value) { return value.name == name; });
  return found == graph.values.end() ? -1 : static_cast<int>(found - graph.values.begin());
}

void check_size(const JsonView& view, const std::string& name, const ir::TensorType& type, int64_t max_bytes) {
  int64_t bytes = size_of(type.dtype);
  if (std::find(type.shape.begin(), type.shape.end(), 0) != type.shape.end()) return;
  for (int64_t size : type.shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      view.fail(fmt::format("the bytes of {} {} pass 2^63 - 1", support::quote(name), ir::shape_text(type.shape)),
                "make it smaller");
    }
  }
  if (bytes > max_bytes) {
    view.fail(fmt::format("{} {} has {} bytes, at most {} are allowed", support::quote(name), ir::shape_text(type.shape), bytes,
                          max_bytes),
              "make it smaller");
  }
}

void read_nodes(const JsonView& nodes, const Dims& dims, int64_t max_tensor_bytes, ir::Graph& graph) {
  NodeBuilder(nodes, dims, max_tensor_bytes, graph).run();
}

}  // namespace heddle::dsl
