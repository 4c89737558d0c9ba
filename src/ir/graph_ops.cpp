#include "src/ir/graph_ops.h"

#include <sstream>

#include "heddle/error.h"

namespace heddle::ir {
namespace {

AttributeKind parse_kind(const std::string& text) {
  static const std::pair<const char*, AttributeKind> kinds[] = {{"int", AttributeKind::Int},    {"flag", AttributeKind::Flag},
                                                                {"real", AttributeKind::Real},  {"ints", AttributeKind::Ints},
                                                                {"text", AttributeKind::Text}, {"dtype", AttributeKind::DType},  {"mask", AttributeKind::Mask},
                                                                {"score", AttributeKind::Score}};
  for (const auto& [name, kind] : kinds) {
    if (text == name) return kind;
  }
  throw InternalError("graph ops", "unknown attribute kind " + text);
}

AttributeInfo parse_attribute(std::string word) {
  const bool required = word.back() == '!';
  if (required) word.pop_back();
  const size_t colon = word.find(':');
  return {word.substr(0, colon), parse_kind(word.substr(colon + 1)), required};
}

std::vector<AttributeInfo> parse_attributes(const char* text) {
  std::vector<AttributeInfo> attributes;
  std::istringstream words(text);
  for (std::string word; words >> word;) attributes.push_back(parse_attribute(word));
  return attributes;
}

}  // namespace

const std::vector<GraphOpInfo>& graph_ops() {
  static const std::vector<GraphOpInfo> table = {
#define X(name, fewest, most, attributes) {#name, fewest, most, parse_attributes(attributes)},
      HEDDLE_GRAPH_OPS(X)
#undef X
  };
  return table;
}

const GraphOpInfo& info(GraphOp op) { return graph_ops()[static_cast<size_t>(op)]; }

std::optional<GraphOp> find_graph_op(std::string_view name) {
  const std::vector<GraphOpInfo>& table = graph_ops();
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<GraphOp>(i);
  }
  return std::nullopt;
}

NodeError NodeError::at_input(int index) && {
  input = index;
  return std::move(*this);
}

NodeError NodeError::at_attribute(std::string name) && {
  attribute = std::move(name);
  return std::move(*this);
}

}  // namespace heddle::ir
