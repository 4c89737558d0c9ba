// The leaves of formulas at one launch, as the slots of ir::CompiledExpr: coordinates first, then sizes, parameters and the score.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heddle/kernel_abi.h"
#include "src/ir/evaluate.h"

namespace heddle::reference {

/// Values of every leaf a mask, score or map may have. Coordinates are set by the caller between evaluations; copies are
/// independent, one a thread.
class LeafSlots {
 public:
  enum Coordinate : size_t { kBatch, kHead, kQuery, kKey };

  /// Parameter names in the order of args.int_params and args.real_params. `operands`: how many Arg leaves may follow.
  /// `tables` in the order of args.tables.
  LeafSlots(const AttentionArgs& args, const std::vector<std::string>& int_params, const std::vector<std::string>& real_params,
            const std::vector<TableDeclaration>& tables, size_t operands = 0);

  const std::vector<std::string>& names() const { return names_; }
  void set(Coordinate coordinate, int64_t value) { ints_[coordinate] = value; }
  void set_score(double value) { reals_[names_.size() - 1] = value; }
  void set_operand(size_t index, double value) { reals_[names_.size() + index] = value; }
  const ir::Tables& tables() const { return tables_; }
  ir::CompiledExpr compile(const ir::Expr& expr) const { return ir::CompiledExpr(expr, names_, tables_); }
  const int64_t* ints() const { return ints_.data(); }
  const double* reals() const { return reals_.data(); }
  /// Values of all Int leaves except q and k, by name: what loop nests are visited with.
  std::map<std::string, int64_t> block_names() const;

 private:
  std::vector<std::string> names_;
  std::vector<int64_t> ints_;   ///< By slot; 0 in Real slots.
  std::vector<double> reals_;   ///< By slot, then operands.
  size_t int_leaves_ = 0;
  ir::Tables tables_;
};

}  // namespace heddle::reference
