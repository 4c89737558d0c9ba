// The table of graph operations: one row an op; a row, its infer function and its evaluator are all an op consists of.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ir {

// X(Name, fewest inputs, most inputs, attributes); -1 means any number. Attributes are "name:kind", required ones "name:kind!".
// Kinds: int, flag (0 or 1), real, ints, text, dtype, mask (name or formula), score (formula).
#define HEDDLE_GRAPH_OPS(X)                                                                                           \
  X(Attention, 3, 3, "mask:mask score:score q_num_heads:int kv_num_heads:int scale:real softcap:real is_causal:flag") \
  X(MatMul, 2, 2, "")                                                                                                 \
  X(Gemm, 2, 3, "alpha:real beta:real transA:flag transB:flag")                                                       \
  X(LayerNormalization, 2, 3, "axis:int epsilon:real")                                                                \
  X(Softmax, 1, 1, "axis:int")                                                                                        \
  X(Gelu, 1, 1, "approximate:text")                                                                                   \
  X(Relu, 1, 1, "")                                                                                                   \
  X(Sigmoid, 1, 1, "")                                                                                                \
  X(Tanh, 1, 1, "")                                                                                                   \
  X(Neg, 1, 1, "")                                                                                                    \
  X(Add, 2, 2, "")                                                                                                    \
  X(Sub, 2, 2, "")                                                                                                    \
  X(Mul, 2, 2, "")                                                                                                    \
  X(Div, 2, 2, "")                                                                                                    \
  X(Cast, 1, 1, "to:dtype!")                                                                                           \
  X(Reshape, 1, 1, "shape:ints!")                                                                                     \
  X(Transpose, 1, 1, "perm:ints")                                                                                     \
  X(Gather, 2, 2, "axis:int")                                                                                         \
  X(Slice, 1, 1, "starts:ints! ends:ints! axes:ints steps:ints")                                                      \
  X(Concat, 1, -1, "axis:int!")                                                                                       \
  X(Split, 1, 1, "axis:int split:ints num_outputs:int")

enum class GraphOp : uint8_t {
#define X(name, fewest, most, attributes) name,
  HEDDLE_GRAPH_OPS(X)
#undef X
};

enum class AttributeKind : uint8_t { Int, Flag, Real, Ints, Text, DType, Mask, Score };

struct AttributeInfo {
  std::string name;
  AttributeKind kind;
  bool required;
};

struct GraphOpInfo {
  std::string name;
  int fewest_inputs, most_inputs;  ///< most_inputs -1: any number.
  std::vector<AttributeInfo> attributes;
};

/// All ops in the order of the enum.
const std::vector<GraphOpInfo>& graph_ops();
const GraphOpInfo& info(GraphOp op);
std::optional<GraphOp> find_graph_op(std::string_view name);

/// A node that breaks a rule of its op. Front doors catch it: they know where the node stands in the user's text.
class NodeError : public std::runtime_error {
 public:
  explicit NodeError(const std::string& message, std::string hint_text = {})
      : std::runtime_error(message), hint(std::move(hint_text)) {}
  NodeError at_input(int index) &&;
  NodeError at_attribute(std::string name) &&;

  int input = -1;         ///< The input to blame, or -1.
  std::string attribute;  ///< The attribute to blame, or empty.
  std::string hint;
};

/// Attention's sizes, read from either layout: 4-D [B, H, S, D], or 3-D [B, S, H * D] with head counts as attributes.
struct AttentionShape {
  int64_t batch, heads, kv_heads, sq, sk, head_dim, value_dim;
  bool packed;  ///< 3-D
};
struct Node;
struct TensorType;
/// Throws NodeError when the shapes are not those of an attention.
AttentionShape attention_shape(const Node& node, const std::vector<TensorType>& inputs);

/// NumPy's broadcast of two shapes; nullopt when they disagree.
std::optional<std::vector<int64_t>> broadcast_shapes(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

/// A Slice's start, step and count along one dimension of `size` elements (ONNX rules: negative values count from the end,
/// everything is clamped).
struct SliceRange {
  int64_t start, step, count;
};
SliceRange slice_range(int64_t size, int64_t start, int64_t end, int64_t step);
/// Ranges of every dimension of a Slice node's operand.
std::vector<SliceRange> slice_ranges(const Node& node, const std::vector<int64_t>& shape);

}  // namespace heddle::ir
