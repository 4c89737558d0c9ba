// The plain evaluator of Expr trees: the meaning of a formula, used by judges, tests and constant folding.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>
#include "heddle/tensor.h"
#include "src/ir/expr.h"

namespace heddle::ir {

/// Views of tables by name; memory is the caller's.
using Tables = std::map<std::string, Tensor>;

/// The element that a Read with these indices gives: int_element of tables of Int32, Int64, UInt8 and Bool (0 or 1), real_element of
/// Float32 ones.
int64_t int_element(const Tensor& table, const int64_t* indices);
double real_element(const Tensor& table, const int64_t* indices);

/// Values of Var and Param leaves by name, and of Arg leaves by index.
struct Environment {
  std::map<std::string, int64_t> ints;
  std::map<std::string, double> reals;
  std::vector<double> args;
  Tables tables{};
};

bool evaluate_bool(const Expr& expr, const Environment& environment);
int64_t evaluate_int(const Expr& expr, const Environment& environment);
double evaluate_real(const Expr& expr, const Environment& environment);  ///< Int expressions are converted.

int64_t floor_div(int64_t a, int64_t b);  ///< 0 when b == 0.
int64_t floor_mod(int64_t a, int64_t b);  ///< 0 when b == 0.

/// An expression flattened for speed: leaves become slots, one pass per evaluation, no allocation, no lookups.
/// Use where a formula is evaluated at many points (judges, enumeration, row sweeps).
class CompiledExpr {
 public:
  /// `slots` names Var/Param leaves in slot order; every leaf of `expr` must be named. Arg(i) reads slot slots.size() + i
  /// of the real inputs. Throws InternalError on an unnamed leaf.
  /// `tables` has every table that `expr` reads; the views are copied, the memory must outlive this object.
  CompiledExpr(const Expr& expr, const std::vector<std::string>& slots, const Tables& tables = {});
  /// inputs[i] is the value of slots[i] (Int slots).
  int64_t run_int(const int64_t* inputs) const;          ///< Int and Bool (0/1) expressions without Real leaves.
  /// `reals`: values of Real slots, by slot index. Int expressions are converted, Bool ones give 0 or 1.
  double run_real(const int64_t* inputs, const double* reals) const;

 private:
  friend class ExprCompiler;
  /// One operation on registers. Operands name a register, an input or a constant: see compiled_expr.cpp.
  struct Step { uint8_t code; uint8_t out; uint32_t a, b, c; };
  /// A read of a table: operands as in steps.
  struct TableRead { Tensor table; std::vector<uint32_t> indices; };
  uint64_t run(const void* ints, const void* reals) const;

  Type type_;
  bool reads_reals_ = false;
  uint32_t result_ = 0;
  std::vector<Step> steps_;
  std::vector<uint64_t> constants_;
  std::vector<TableRead> reads_;
};

}  // namespace heddle::ir
