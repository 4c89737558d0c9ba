// Graphs of ONNX-style nodes over named tensors, attention formulas included: what a model spec means once it is checked.
//
// Semantics:
//  - A value is a dense row-major tensor of a fixed dtype and shape. It is an input, a weight, or one output of one node.
//  - Nodes stand in topological order: a node reads only inputs, weights and outputs of earlier nodes.
//  - Op names, attributes and results are ONNX's (graph_ops.h lists them); static operands are attributes. Where an
//    attribute is absent its ONNX default holds. No node has side effects, so their order never changes a result.
//  - An Attention node carries its whole mask (is_causal included) and its whole score (softcap included) as formulas.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/tensor.h"
#include "src/ir/expr.h"
#include "src/ir/graph_ops.h"

namespace heddle::ir {

struct TensorType {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  bool operator==(const TensorType&) const = default;
};

/// "float32 [1, 4096, 768]"
std::string to_string(const TensorType& type);
/// "[1, 4096, 768]"
std::string shape_text(const std::vector<int64_t>& shape);

struct Value {
  std::string name;
  TensorType type;
};

/// A file whose bytes became an input: `used` of its `size` bytes.
struct FileUse {
  std::string path;
  int64_t size = 0, used = 0;
};

/// Where the elements of an input or weight come from when the caller gives none. The generators are exact integer
/// arithmetic, so every machine makes the same bits (src/engine/sources.h defines them).
struct Source {
  enum class Kind {
    None,      ///< The caller must give it.
    Stream,    ///< Uniform reals scale * (u - 0.5) + offset of the case files' generator.
    Modulo,    ///< Integers below `integer` of the same generator.
    Iota,      ///< integer, integer + 1, ...
    Values,    ///< Listed in `reals` or `integers`.
    Documents, ///< For each byte of the files of value `integer`, the number of its file: 0, 1, ...
    Bytes,     ///< The bytes of text files, one element a byte.
    Normal,    ///< Mean 0, standard deviation `scale`.
    Uniform,   ///< In [-scale, scale).
    Constant,  ///< `scale`, of integers `integer`, everywhere.
  };
  Kind kind = Kind::None;
  double scale = 1, offset = 0;
  int64_t integer = 0;
  uint64_t seed = 0;  ///< Normal and Uniform: the generator's key. Stream and Modulo: the position of the input.
  std::vector<double> reals{};
  std::vector<int64_t> integers{};
  std::string bytes = {};
  std::vector<FileUse> files{};
};

/// An input or weight: index of its value and where its elements come from.
struct Leaf {
  int value = 0;
  Source source;
};

using AttributeValue = std::variant<int64_t, double, std::string, std::vector<int64_t>>;

struct Node {
  std::string name;
  GraphOp op{};
  std::vector<int> inputs, outputs;  ///< Indices of values.
  std::map<std::string, AttributeValue> attributes;
  Expr mask;   ///< Attention: null means every pair.
  Expr score;  ///< Attention: null means s itself.
  std::vector<std::pair<std::string, int>> tables{};  ///< Attention: tables of mask and score and the inputs or weights they are.

  bool has(const std::string& attribute) const { return attributes.contains(attribute); }
  int64_t integer(const std::string& attribute, int64_t fallback) const;
  double real(const std::string& attribute, double fallback) const;
  std::string text(const std::string& attribute, const std::string& fallback) const;
  std::vector<int64_t> list(const std::string& attribute, const std::vector<int64_t>& fallback = {}) const;
};

struct NamedMask {
  std::string name;
  Expr formula;
};

struct Graph {
  std::string name;
  std::map<std::string, int64_t> dims;
  std::vector<NamedMask> masks;
  std::vector<Value> values;
  std::vector<Leaf> inputs, weights;
  std::vector<Node> nodes;
  std::vector<int> outputs;  ///< Indices of values.

  const TensorType& type(int value) const { return values[value].type; }
  /// Types of the inputs of a node, in order.
  std::vector<TensorType> input_types(const Node& node) const;
};

/// Types of a node's outputs. Throws NodeError where the inputs or attributes break the op's rules.
std::vector<TensorType> infer_types(const Node& node, const std::vector<TensorType>& inputs);

/// Throws InternalError naming the broken rule: indices in range, one producer a value, topological order, types as inferred.
void verify(const Graph& graph);

/// One line a value and node, for people: `y = Attention(q, k, v) {q_num_heads: 12} : float32 [1, 4096, 768]`.
std::string print(const Graph& graph);

}  // namespace heddle::ir
