// Model specs: a graph of ONNX-style nodes with attention formulas, loaded from JSON, run by an engine.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include "heddle/engine.h"
#include "heddle/tensor.h"

namespace heddle {

namespace ir {
struct Graph;
}

/// Options of loading a spec.
struct SpecOptions {
  std::map<std::string, int64_t> dims{}; ///< Overrides of "dims", as `--dim S=8192`.
  std::vector<std::string> allow_paths{};///< Folders outside the spec's own whose files it may read.
  int64_t max_tensor_bytes = int64_t{1} << 35;  ///< A larger tensor is an error.
};

/// A checked model spec. Immutable, cheap to copy.
class Spec {
 public:
  /// Reads and checks a spec file: known keys and ops, shapes and dtypes inferred for every node. Throws UserError with a
  /// JSON pointer (or line and column for malformed JSON) and the nearest known name. Paths inside must stay in the spec's folder.
  static Spec load(const std::string& path, const SpecOptions& options = {});
  static Spec parse(const std::string& json, const SpecOptions& options = {}, const std::string& origin = "spec");
  const ir::Graph& graph() const { return *graph_; }

 private:
  std::shared_ptr<const ir::Graph> graph_;
};

/// A named array that owns its memory.
struct Array {
  Tensor view;
  std::shared_ptr<void> memory;
  /// Dense, 64-byte aligned, contents unspecified. Throws UserError as Tensor::dense does, RuntimeError when memory is lacking.
  static Array make(std::vector<int64_t> shape, DType dtype);
};

/// Time of one node in one run.
struct NodeTime { std::string name, op; double milliseconds = 0; };

/// How one Attention node was compiled and run.
struct AttentionUse {
  std::string node;
  Attention kernel;
  int64_t batch, heads, kv_heads, sq, sk;
  double scale;          ///< Of the scores.
  Array q, k, v, o;      ///< 4-D views of what the kernel read and wrote; empty unless RunOptions::keep_attention.
  std::map<std::string, Array> tables{};  ///< Of mask and score, by name.
  std::map<std::string, int64_t> ints{};  ///< Values of dynamic parameters, by name.
  std::map<std::string, double> reals{};
};

struct RunOptions {
  bool keep_attention = false;  ///< Keep operands and results of attentions alive, for measuring and judging them.
};

struct RunResult {
  std::map<std::string, Array> outputs;
  std::vector<NodeTime> times;
  std::vector<AttentionUse> attentions;
};

/// A spec bound to an engine: weights initialised, attention kernels compiled.
class Model {
 public:
  Model(Engine engine, Spec spec);
  /// Inputs by name; a missing one is generated from its seeded `fill`. Throws UserError on a wrong name, dtype or shape.
  RunResult run(const std::map<std::string, Array>& inputs = {}, const RunOptions& options = {});
  /// The same graph with every node in float64 straight from the formulas (slow): the judge of run(). Reals become
  /// float64; an attention reads its operands rounded to the type they have in the graph, and a Cast rounds to its type.
  RunResult run_reference(const std::map<std::string, Array>& inputs = {});
  const Spec& spec() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace heddle
