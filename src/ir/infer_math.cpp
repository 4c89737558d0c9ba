#include <fmt/format.h>

#include "src/ir/infer.h"
#include "src/support/text.h"

namespace heddle::ir {
namespace {

Types unary_float(const Types& inputs) {
  require_float(inputs);
  return inputs;
}

Types binary(const Types& inputs) {
  if (inputs[0].dtype != inputs[1].dtype) {
    throw NodeError(
        fmt::format("the inputs are {} and {}", heddle::to_string(inputs[0].dtype), heddle::to_string(inputs[1].dtype)),
        "both must have one dtype; put a Cast node before one of them")
        .at_input(1);
  }
  const auto shape = broadcast_shapes(inputs[0].shape, inputs[1].shape);
  if (!shape) {
    throw NodeError(fmt::format("shapes {} and {} do not broadcast", shape_text(inputs[0].shape), shape_text(inputs[1].shape)),
                    "aligned at the right, each pair of sizes must be equal or hold a 1")
        .at_input(1);
  }
  checked_product(*shape);
  return {{inputs[0].dtype, *shape}};
}

std::vector<int64_t> batch_of(const std::vector<int64_t>& shape) { return {shape.begin(), shape.end() - 2}; }

[[noreturn]] void inner_mismatch(const Types& inputs, int64_t a, int64_t b) {
  throw NodeError(fmt::format("cannot multiply {} by {}: the inner sizes are {} and {}", shape_text(inputs[0].shape),
                              shape_text(inputs[1].shape), a, b),
                  "the last size of the first input must equal the one before the last of the second")
      .at_input(1);
}

void require_rank(const Types& inputs, int index, int64_t rank) {
  if (static_cast<int64_t>(inputs[index].shape.size()) == rank) return;
  throw NodeError(fmt::format("expected {} dimensions, found {}", rank, shape_text(inputs[index].shape))).at_input(index);
}

void require_broadcasts_to(const Types& inputs, int index, const std::vector<int64_t>& shape) {
  const auto joined = broadcast_shapes(inputs[index].shape, shape);
  if (joined && *joined == shape) return;
  throw NodeError(fmt::format("shape {} does not broadcast to {}", shape_text(inputs[index].shape), shape_text(shape)))
      .at_input(index);
}

}  // namespace

std::optional<std::vector<int64_t>> broadcast_shapes(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1, right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    shape[shape.size() - 1 - i] = left == 1 ? right : left;
  }
  return shape;
}

Types infer_Relu(const Node&, const Types& inputs) { return unary_float(inputs); }
Types infer_Sigmoid(const Node&, const Types& inputs) { return unary_float(inputs); }
Types infer_Tanh(const Node&, const Types& inputs) { return unary_float(inputs); }
Types infer_Neg(const Node&, const Types& inputs) { return inputs; }
Types infer_Add(const Node&, const Types& inputs) { return binary(inputs); }
Types infer_Sub(const Node&, const Types& inputs) { return binary(inputs); }
Types infer_Mul(const Node&, const Types& inputs) { return binary(inputs); }
Types infer_Div(const Node&, const Types& inputs) { return binary(inputs); }

Types infer_Gelu(const Node& node, const Types& inputs) {
  const std::string form = node.text("approximate", "none");
  if (form != "none" && form != "tanh") {
    throw NodeError(fmt::format("unknown approximation {}", support::quote(form)),
                    "use \"none\" (exact, the default) or \"tanh\"")
        .at_attribute("approximate");
  }
  return unary_float(inputs);
}

Types infer_Softmax(const Node& node, const Types& inputs) {
  axis_of(node, inputs[0].shape.size(), -1);
  return unary_float(inputs);
}

Types infer_MatMul(const Node&, const Types& inputs) {
  require_float(inputs);
  std::vector<int64_t> a = inputs[0].shape, b = inputs[1].shape;
  for (int i = 0; i < 2; ++i) {
    if (inputs[i].shape.empty()) throw NodeError("a scalar cannot be multiplied as a matrix", "use Mul").at_input(i);
  }
  const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), 1);
  if (vector_b) b.push_back(1);
  if (a.back() != b[b.size() - 2]) inner_mismatch(inputs, a.back(), b[b.size() - 2]);
  auto shape = broadcast_shapes(batch_of(a), batch_of(b));
  if (!shape) {
    throw NodeError(fmt::format("the batch dimensions of {} and {} do not broadcast", shape_text(a), shape_text(b)))
        .at_input(1);
  }
  if (!vector_a) shape->push_back(a[a.size() - 2]);
  if (!vector_b) shape->push_back(b.back());
  checked_product(*shape);
  return {{inputs[0].dtype, *shape}};
}

Types infer_Gemm(const Node& node, const Types& inputs) {
  require_float(inputs);
  for (int i = 0; i < 2; ++i) require_rank(inputs, i, 2);
  const bool turn_a = node.integer("transA", 0), turn_b = node.integer("transB", 0);
  const std::vector<int64_t>&a = inputs[0].shape, &b = inputs[1].shape;
  if (a[!turn_a] != b[turn_b]) inner_mismatch(inputs, a[!turn_a], b[turn_b]);
  const std::vector<int64_t> shape = {a[turn_a], b[!turn_b]};
  checked_product(shape);
  if (inputs.size() == 3) require_broadcasts_to(inputs, 2, shape);
  return {{inputs[0].dtype, shape}};
}

Types infer_LayerNormalization(const Node& node, const Types& inputs) {
  require_float(inputs);
  const std::vector<int64_t>& shape = inputs[0].shape;
  const int64_t axis = axis_of(node, shape.size(), -1);
  const std::vector<int64_t> normalized(shape.begin() + axis, shape.end());
  for (size_t i = 1; i < inputs.size(); ++i) require_broadcasts_to(inputs, i, normalized);
  return {inputs[0]};
}

}  // namespace heddle::ir
