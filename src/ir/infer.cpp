#include "src/ir/infer.h"

#include <fmt/format.h>

#include "src/support/half.h"

namespace heddle::ir {
namespace {

std::string arity_text(const GraphOpInfo& op) {
  if (op.most_inputs < 0) return fmt::format("at least {}", op.fewest_inputs);
  if (op.fewest_inputs == op.most_inputs) return std::to_string(op.fewest_inputs);
  return fmt::format("{} to {}", op.fewest_inputs, op.most_inputs);
}

[[noreturn]] void bad_heads(const Node& node, const std::string& attribute, int64_t heads, int64_t width) {
  if (!node.has(attribute)) {
    throw NodeError(fmt::format("3-D inputs need the attribute '{}'", attribute),
                    "or give 4-D inputs [batch, heads, rows, width]");
  }
  throw NodeError(fmt::format("{} = {} does not divide a width of {}", attribute, heads, width)).at_attribute(attribute);
}

int64_t heads_of(const Node& node, const std::string& attribute, int64_t width) {
  const int64_t heads = node.integer(attribute, 0);
  if (heads < 1 || width % heads != 0) bad_heads(node, attribute, heads, width);
  return heads;
}

AttentionShape packed_shape(const Node& node, const Types& inputs) {
  const std::vector<int64_t>&q = inputs[0].shape, &k = inputs[1].shape, &v = inputs[2].shape;
  const int64_t heads = heads_of(node, "q_num_heads", q[2]), kv_heads = heads_of(node, "kv_num_heads", k[2]);
  return {q[0], heads, kv_heads, q[1], k[1], q[2] / heads, v[2] / heads_of(node, "kv_num_heads", v[2]), true};
}

AttentionShape split_shape(const Node& node, const Types& inputs) {
  const std::vector<int64_t>&q = inputs[0].shape, &k = inputs[1].shape, &v = inputs[2].shape;
  for (const char* attribute : {"q_num_heads", "kv_num_heads"}) {
    const int64_t found = attribute[0] == 'q' ? q[1] : k[1], wanted = node.integer(attribute, found);
    if (wanted != found) {
      throw NodeError(fmt::format("{} = {}, but the 4-D input has {} heads", attribute, wanted, found)).at_attribute(attribute);
    }
  }
  return {q[0], q[1], k[1], q[2], k[2], q[3], v[3], false};
}

void disagree(const Types& inputs, int index, const char* what, int64_t found, int64_t expected) {
  if (found == expected) return;
  throw NodeError(fmt::format("{} is {}, expected {}", what, found, expected),
                  fmt::format("Q is {}, K is {}, V is {}", shape_text(inputs[0].shape), shape_text(inputs[1].shape),
                              shape_text(inputs[2].shape)))
      .at_input(index);
}

void check_agreement(const AttentionShape& shape, const Types& inputs) {
  const std::vector<int64_t>&k = inputs[1].shape, &v = inputs[2].shape;
  disagree(inputs, 1, "the batch of K", k[0], shape.batch);
  disagree(inputs, 2, "the batch of V", v[0], shape.batch);
  disagree(inputs, 2, "the number of rows of V", v[shape.packed ? 1 : 2], shape.sk);
  if (!shape.packed) disagree(inputs, 2, "the number of heads of V", v[1], shape.kv_heads);
  disagree(inputs, 1, "the head width of K", shape.packed ? k[2] / shape.kv_heads : k[3], shape.head_dim);
}

void check_limits(const AttentionShape& shape) {
  if (shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0) {
    throw NodeError(fmt::format("{} query heads cannot be shared among {} key heads", shape.heads, shape.kv_heads),
                    "the number of query heads must be a multiple of the number of key heads");
  }
  for (const int64_t width : {shape.head_dim, shape.value_dim}) {
    if (width < 1 || width > 256) throw NodeError(fmt::format("the head width is {}, supported are 1 to 256", width));
  }
}

}  // namespace

void check_arity(const Node& node, size_t inputs) {
  const GraphOpInfo& op = info(node.op);
  const int found = static_cast<int>(inputs);
  if (found >= op.fewest_inputs && (op.most_inputs < 0 || found <= op.most_inputs)) return;
  throw NodeError(fmt::format("{} takes {} inputs, found {}", op.name, arity_text(op), found));
}

void require_dtype(const Types& inputs, int index, DType dtype) {
  if (inputs[index].dtype == dtype) return;
  throw NodeError(fmt::format("expected {}, found {}", heddle::to_string(dtype), heddle::to_string(inputs[index].dtype)),
                  "put a Cast node before it")
      .at_input(index);
}

void require_float(const Types& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) require_dtype(inputs, i, DType::Float32);
}

int64_t axis_of(const Node& node, int64_t rank, int64_t fallback) {
  const int64_t axis = node.integer("axis", fallback);
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  throw NodeError(fmt::format("axis {} is outside the {} dimensions of the input", axis, rank)).at_attribute("axis");
}

int64_t checked_product(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (int64_t size : shape) {
    if (size == 0) return 0;
  }
  for (int64_t size : shape) {
    if (__builtin_mul_overflow(product, size, &product)) {
      throw NodeError(fmt::format("the product of the sizes {} passes 2^63 - 1", shape_text(shape)));
    }
  }
  return product;
}

AttentionShape attention_shape(const Node& node, const Types& inputs) {
  const size_t rank = inputs[0].shape.size();
  if (rank != 3 && rank != 4) {
    throw NodeError(fmt::format("Attention takes 3-D or 4-D inputs, found {}", shape_text(inputs[0].shape))).at_input(0);
  }
  for (int i = 1; i < 3; ++i) {
    if (inputs[i].shape.size() != rank) {
      throw NodeError(fmt::format("expected {} dimensions as in Q, found {}", rank, shape_text(inputs[i].shape))).at_input(i);
    }
  }
  const AttentionShape shape = rank == 3 ? packed_shape(node, inputs) : split_shape(node, inputs);
  check_agreement(shape, inputs);
  check_limits(shape);
  return shape;
}

Types infer_Attention(const Node& node, const Types& inputs) {
  const DType dtype = inputs[0].dtype;
  if (!support::is_operand_type(dtype)) {
    throw NodeError(fmt::format("expected float32, bfloat16 or float16, found {}", heddle::to_string(dtype)), "put a Cast node before it").at_input(0);
  }
  for (size_t i = 1; i < inputs.size(); ++i) require_dtype(inputs, i, dtype);
  const AttentionShape shape = attention_shape(node, inputs);
  std::vector<int64_t> out = {shape.batch, shape.heads, shape.sq, shape.value_dim};
  if (shape.packed) out = {shape.batch, shape.sq, shape.heads * shape.value_dim};
  checked_product(out);
  return {{dtype, out}};
}

Types infer_types(const Node& node, const Types& inputs) {
  check_arity(node, inputs.size());
  switch (node.op) {
#define X(name, fewest, most, attributes) \
  case GraphOp::name:                     \
    return infer_##name(node, inputs);
    HEDDLE_GRAPH_OPS(X)
#undef X
  }
  throw NodeError("no such op");
}

}  // namespace heddle::ir
