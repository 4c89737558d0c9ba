#include "dsl/spec_attributes.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/names.h"
#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::dsl {
namespace {

using ir::AttributeKind;

int64_t read_flag(const JsonView& view) {
  if (!view.is_integer() || view.integer() < 0 || view.integer() > 1) view.fail("expected 0 or 1");
  return view.integer();
}

std::vector<int64_t> read_sizes(const JsonView& view, const Dims& dims) {
  std::vector<int64_t> sizes;
  for (const JsonView& item : view.elements()) sizes.push_back(dims.evaluate(item));
  return sizes;
}

/// A name in "masks", or a formula.
ir::Expr read_mask(const JsonView& view, const ir::Graph& graph) {
  const std::string text = view.string();
  std::vector<std::string> names;
  for (const ir::NamedMask& mask : graph.masks) {
    if (mask.name == text) return mask.formula;
    names.push_back(mask.name);
  }
  if (is_identifier(text) && text != "true" && text != "false") {
    view.fail(fmt::format("unknown mask {}", support::quote(text)), suggestion(text, names));
  }
  return Mask::parse(text, tables_of(graph), view.origin()).node();
}

void read_attribute(const JsonView& view, const ir::AttributeInfo& attribute, const Dims& dims,
                    const ir::Graph& graph, ir::Node& node) {
  ir::AttributeValue& value = node.attributes[attribute.name];
  switch (attribute.kind) {
    case AttributeKind::Int:
      value = dims.evaluate(view);
      return;
    case AttributeKind::Flag:
      value = read_flag(view);
      return;
    case AttributeKind::Real:
      value = view.real();
      return;
    case AttributeKind::Ints:
      value = read_sizes(view, dims);
      return;
    case AttributeKind::Text:
      value = view.string();
      return;
    case AttributeKind::DType:
      value = to_string(read_dtype(view));
      return;
    case AttributeKind::Mask:
      node.mask = read_mask(view, graph);
      break;
    case AttributeKind::Score:
      node.score = Score::parse(view.string(), tables_of(graph), view.origin()).node();
      break;
  }
  node.attributes.erase(attribute.name);
}

std::vector<std::string> names_of(const std::vector<ir::AttributeInfo>& attributes) {
  std::vector<std::string> names;
  for (const ir::AttributeInfo& attribute : attributes) names.push_back(attribute.name);
  return names;
}

/// is_causal and softcap become part of mask and score.
void fold_attention(const JsonView& attributes, ir::Node& node) {
  if (node.integer("is_causal", 0)) {
    const ir::Expr causal = Mask::causal(Mask::Align::TopLeft).node();
    node.mask = node.mask ? ir::make(ir::Op::And, {causal, node.mask}) : causal;
  }
  const double cap = node.real("softcap", 0);
  if (cap < 0) attributes.at("softcap").fail("expected 0 (none) or a positive cap");
  if (cap > 0) {
    const ir::Expr score = node.score ? node.score : ir::var("s", ir::Type::Real), limit = ir::real_const(cap);
    node.score = ir::make(ir::Op::Mul, {limit, ir::make(ir::Op::Tanh, {ir::make(ir::Op::Div, {score, limit})})});
  }
  node.attributes.erase("is_causal");
  node.attributes.erase("softcap");
}

}  // namespace

DType read_dtype(const JsonView& view) {
  const std::string text = view.string();
  static const std::pair<const char*, DType> accepted[] = {{"float32", DType::Float32}, {"f32", DType::Float32},
                                                           {"bfloat16", DType::BFloat16}, {"bf16", DType::BFloat16},
                                                           {"float16", DType::Float16}, {"f16", DType::Float16},
                                                           {"int32", DType::Int32},     {"i32", DType::Int32},
                                                           {"int64", DType::Int64},     {"i64", DType::Int64}};
  for (const auto& [name, dtype] : accepted) {
    if (text == name) return dtype;
  }
  view.fail(fmt::format("unknown dtype {}", support::quote(text)), "use float32, bfloat16, float16, int32 or int64 (f32, bf16, f16, i32, i64)");
}

Parameters tables_of(const ir::Graph& graph) {
  Parameters tables;
  for (const std::vector<ir::Leaf>* leaves : {&graph.inputs, &graph.weights}) {
    for (const ir::Leaf& leaf : *leaves) {
      const ir::Value& value = graph.values[static_cast<size_t>(leaf.value)];
      const bool readable = is_identifier(value.name) && reserved_as(value.name).empty() && ir::is_table_type(value.type.dtype);
      if (readable) tables[value.name] = TableOf{value.type.dtype};
    }
  }
  return tables;
}

void read_attributes(const JsonView& view, const Dims& dims, const ir::Graph& graph, ir::Node& node) {
  const std::vector<ir::AttributeInfo>& known = ir::info(node.op).attributes;
  if (view.has("attrs")) view.at("attrs").expect_keys(names_of(known));
  for (const ir::AttributeInfo& attribute : known) {
    if (view.has("attrs") && view.at("attrs").has(attribute.name)) {
      read_attribute(view.at("attrs").at(attribute.name), attribute, dims, graph, node);
    } else if (attribute.required) {
      view.fail(fmt::format("{} needs the attribute '{}'", ir::info(node.op).name, attribute.name), "give it under \"attrs\"");
    }
  }
  if (node.op == ir::GraphOp::Attention && view.has("attrs")) fold_attention(view.at("attrs"), node);
}

}  // namespace heddle::dsl
