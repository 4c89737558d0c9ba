// isl's quasi-affine expressions as ir::Expr trees.
#pragma once
#include <vector>
#include "src/analysis/presburger.h"
#include "src/ir/expr.h"

namespace heddle::analysis {

/// What the dimensions of a space stand for.
struct SpaceNames {
  std::vector<ir::Expr> parameters, dimensions;
};

/// denominator * aff as an expression; denominator >= 1.
struct ScaledAffine {
  ir::Expr expr;
  int64_t denominator = 1;
  bool uses_dimensions = false;  ///< A set dimension occurs, inside a division or outside.
};

/// Throws OverBudget when a coefficient is not an integer below 2^40 in magnitude (sums of products then stay exact).
ScaledAffine scaled_affine(const isl::aff& aff, const SpaceNames& names);

/// The integer, checked as above.
int64_t small_integer(const isl::val& value);

// Sums and quotients that keep facts readable.
ir::Expr add(const ir::Expr& a, const ir::Expr& b);
ir::Expr subtract(const ir::Expr& a, const ir::Expr& b);
ir::Expr fold(ir::Op op, const std::vector<ir::Expr>& exprs);  ///< a op b op c ...; at least one.
ir::Expr multiply(const ir::Expr& a, int64_t factor);
ir::Expr floor_divide(const ir::Expr& a, int64_t divisor);    ///< divisor > 0
ir::Expr ceiling_divide(const ir::Expr& a, int64_t divisor);  ///< divisor > 0

}  // namespace heddle::analysis
