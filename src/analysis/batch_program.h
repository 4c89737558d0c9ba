// A flat evaluator of Int and Bool expressions over batches of lanes: what depends on no lane is computed once, not per lane.
//
// Used by the row sweep (lanes are rows) and by the enumeration (lanes are keys, the row is a uniform). Values are those of
// ir::evaluate_int and ir::evaluate_bool: arithmetic wraps, division and modulo are floor and total.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>
#include "heddle/bind_program.h"
#include "src/ir/evaluate.h"
#include "src/ir/expr.h"

namespace heddle::analysis {

class BatchProgram {
 public:
  static constexpr int kLanes = 256;  ///< Most lanes of one run.

  /// How the value of a name changes: never, between runs, or from lane to lane.
  enum class Slot : uint8_t { Fixed = 0, Uniform = 1, Lane = 2 };

  /// Declares a name; returns its node. Names are unique.
  int declare(const std::string& name, Slot slot);
  void declare_fixed(const std::map<std::string, int64_t>& values);
  bool declares(const std::string& name) const { return names_.count(name) > 0; }

  /// The tables that expressions may read; the views are copied, the memory must outlive this object.
  void declare_tables(const ir::Tables& tables);

  /// Adds an expression over declared names; equal sub-expressions share a node. Throws InternalError for an undeclared name or
  /// table and for a Real sub-expression.
  int add(const ir::Expr& expr);
  int add(ir::Op op, int a, int b);   ///< A binary operation of two nodes.
  int constant(int64_t value);

  void set(int node, int64_t value) { values_[index(node)] = value; }  ///< Of a Fixed or Uniform name.
  int64_t* lanes(int node) { return &values_[index(node)]; }           ///< Of a Lane name: kLanes values to fill.

  /// Operations of lanes since the last call.
  int64_t take_work() { return std::exchange(work_, 0); }

  /// The nodes of one dependency class, in order: first Fixed (once), then Uniform and lane-only in any order, then mixed.
  void run_fixed() { run(0, 1), work_ = 0; }
  void run_uniform() { run(1, 1); }
  void run_lanes(int n) { run(2, n); }
  void run_mixed(int n) { run(3, n); }

  /// Value of a node in a lane (any lane when it depends on none).
  int64_t value(int node, int lane) const { return values_[index(node) + (nodes_[node].depends & 2 ? lane : 0)]; }
  const int64_t* data(int node) const { return &values_[index(node)]; }
  bool varies(int node) const { return nodes_[node].depends & 2; }

 private:
  struct Node {
    ir::Op op;
    std::array<int, kMaxTableRank> operands = {-1, -1, -1, -1};
    int64_t integer = 0;  ///< A constant, or the table of a Read.
    uint8_t depends = 0;  ///< Bit 0: a Uniform name, bit 1: a Lane name.
  };
  static size_t index(int node) { return static_cast<size_t>(node) * kLanes; }
  int push(Node node);
  void run(int stage, int n);
  void step(const Node& node, int64_t* out, int n) const;
  void divide(const Node& node, int64_t* out, int n) const;
  void read(const Node& node, int64_t* out, int n) const;

  int64_t work_ = 0;
  std::vector<Node> nodes_;
  std::vector<int64_t> values_;
  std::vector<int> stages_[4];
  std::map<std::string, int> names_;
  std::vector<Tensor> tables_;
  std::map<std::string, int64_t> table_names_;  ///< To their places.
  std::multimap<uint64_t, int> known_;  ///< Structural hash of a node to its index.
};

}  // namespace heddle::analysis
