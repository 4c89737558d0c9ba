#include "src/analysis/affine_expr.h"
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <isl/aff.h>
#include <isl/val.h>
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

constexpr int64_t kLargestCoefficient = int64_t{1} << 40;

isl::val val(isl_val* value) { return isl::manage(checked(value)); }

/// A sum of factor * atom, kept apart until all terms are known.
class Sum {
 public:
  void term(int64_t factor, const Expr& atom) { terms_.push_back({factor, atom}); }

  /// factor * floor(x / d) beside a multiple of x is a modulo: x - d * floor(x / d) == x % d.
  void fold_modulo() {
    for (Term& floor : terms_) {
      if (floor.factor == 0 || floor.atom->op != Op::Div) continue;
      const int64_t divisor = floor.atom->operands[1]->integer;
      Term* plain = find(floor.atom->operands[0]);
      if (plain == nullptr || plain->factor == 0 || floor.factor != -plain->factor * divisor) continue;
      plain->atom = ir::make(Op::Mod, floor.atom->operands);
      floor.factor = 0;
    }
  }

  /// Positive terms first, a positive constant counting as one where there is no other.
  Expr expr(int64_t constant) const {
    Expr result;
    const auto positive = [](const Term& t) { return t.factor > 0; };
    if (constant > 0 && std::none_of(terms_.begin(), terms_.end(), positive)) result = ir::int_const(std::exchange(constant, 0));
    for (const Term& t : terms_) {
      if (t.factor > 0) result = result ? add(result, multiply(t.atom, t.factor)) : multiply(t.atom, t.factor);
    }
    for (const Term& t : terms_) {
      if (t.factor < 0) result = result ? subtract(result, multiply(t.atom, -t.factor)) : multiply(t.atom, t.factor);
    }
    return result ? add(result, ir::int_const(constant)) : ir::int_const(constant);
  }

 private:
  struct Term {
    int64_t factor;
    Expr atom;
  };
  Term* find(const Expr& atom) {
    for (Term& t : terms_) {
      if (ir::equal(t.atom, atom)) return &t;
    }
    return nullptr;
  }
  std::vector<Term> terms_;
};

}  // namespace

int64_t small_integer(const isl::val& value) {
  const bool fits = isl_val_is_int(value.get()) == isl_bool_true && isl_val_cmp_si(value.get(), kLargestCoefficient) <= 0 &&
                    isl_val_cmp_si(value.get(), -kLargestCoefficient) >= 0;
  if (!fits) throw OverBudget("a coefficient is too large");
  return isl_val_get_num_si(value.get());
}

ScaledAffine scaled_affine(const isl::aff& aff, const SpaceNames& names) {
  const isl::val denominator = val(isl_aff_get_denominator_val(aff.get()));
  const auto scaled = [&](isl_val* coefficient) {
    return small_integer(val(isl_val_mul(coefficient, isl_val_copy(denominator.get()))));
  };
  ScaledAffine result;
  result.denominator = small_integer(denominator);
  Sum sum;
  const auto leaves = [&](isl_dim_type type, const std::vector<Expr>& atoms) {
    for (size_t i = 0; i < atoms.size(); ++i) {
      const int64_t factor = scaled(isl_aff_get_coefficient_val(aff.get(), type, static_cast<int>(i)));
      if (factor == 0) continue;
      sum.term(factor, atoms[i]);
      if (type == isl_dim_in) result.uses_dimensions = true;
    }
  };
  leaves(isl_dim_in, names.dimensions);
  leaves(isl_dim_param, names.parameters);
  const isl_size divisions = isl_aff_dim(aff.get(), isl_dim_div);
  if (divisions < 0) throw OverBudget("isl returned nothing");
  for (int i = 0; i < divisions; ++i) {
    const int64_t factor = scaled(isl_aff_get_coefficient_val(aff.get(), isl_dim_div, i));
    if (factor == 0) continue;
    const ScaledAffine inner = scaled_affine(isl::manage(checked(isl_aff_get_div(aff.get(), i))), names);
    result.uses_dimensions |= inner.uses_dimensions;
    sum.term(factor, floor_divide(inner.expr, inner.denominator));
  }
  sum.fold_modulo();
  result.expr = sum.expr(scaled(isl_aff_get_constant_val(aff.get())));
  return result;
}

Expr add(const Expr& a, const Expr& b) {
  const std::optional<int64_t> x = ir::as_int_constant(a), y = ir::as_int_constant(b);
  if (x && y) return ir::int_const(*x + *y);
  if (y && *y == 0) return a;
  if (x && *x == 0) return b;
  if (y && *y < 0) return subtract(a, ir::int_const(-*y));
  if (y && (a->op == Op::Add || a->op == Op::Sub)) {
    if (const auto inner = ir::as_int_constant(a->operands[1])) {
      return add(a->operands[0], ir::int_const((a->op == Op::Add ? *inner : -*inner) + *y));
    }
  }
  return ir::make(Op::Add, {a, b});
}

Expr subtract(const Expr& a, const Expr& b) {
  const std::optional<int64_t> x = ir::as_int_constant(a), y = ir::as_int_constant(b);
  if (x && y) return ir::int_const(*x - *y);
  if (y && *y == 0) return a;
  if (y && *y < 0) return add(a, ir::int_const(-*y));
  if (y && (a->op == Op::Add || a->op == Op::Sub)) {
    if (const auto inner = ir::as_int_constant(a->operands[1])) {
      return add(a->operands[0], ir::int_const((a->op == Op::Add ? *inner : -*inner) - *y));
    }
  }
  if (x && *x == 0) return ir::make(Op::Neg, {b});
  return ir::make(Op::Sub, {a, b});
}

Expr fold(Op op, const std::vector<Expr>& exprs) {
  Expr result = exprs.at(0);
  for (size_t i = 1; i < exprs.size(); ++i) result = ir::make(op, {result, exprs[i]});
  return result;
}

Expr multiply(const Expr& a, int64_t factor) {
  if (factor == 1) return a;
  if (factor == -1) return ir::make(Op::Neg, {a});
  if (const auto x = ir::as_int_constant(a)) return ir::int_const(*x * factor);
  return ir::make(Op::Mul, {ir::int_const(factor), a});
}

Expr floor_divide(const Expr& a, int64_t divisor) {
  if (divisor == 1) return a;
  return ir::simplify(ir::make(Op::Div, {a, ir::int_const(divisor)}));
}

Expr ceiling_divide(const Expr& a, int64_t divisor) {
  if (divisor == 1) return a;
  return floor_divide(add(a, ir::int_const(divisor - 1)), divisor);
}

}  // namespace heddle::analysis
