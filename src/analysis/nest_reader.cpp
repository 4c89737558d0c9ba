#include "src/analysis/nest_reader.h"
#include <algorithm>
#include <memory>
#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/set.h>
#include <isl/stride_info.h>
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Constraint = std::unique_ptr<isl_constraint, Freed<isl_constraint_free>>;
using ConstraintList = std::unique_ptr<isl_constraint_list, Freed<isl_constraint_list_free>>;
using StrideInfo = std::unique_ptr<isl_stride_info, Freed<isl_stride_info_free>>;

bool yes(isl_bool answer) {
  if (answer == isl_bool_error) throw OverBudget("isl returned nothing");
  return answer == isl_bool_true;
}

void add_once(std::vector<Expr>& exprs, const Expr& expr) {
  const auto same = [&](const Expr& other) { return ir::equal(other, expr); };
  if (std::none_of(exprs.begin(), exprs.end(), same)) exprs.push_back(expr);
}

/// aff >= 0 or aff == 0 as a readable comparison; 'a - b + c >= 0' is written `a + c >= b`.
Expr condition(const Expr& aff, bool equality) {
  Expr left = aff, right = ir::int_const(0);
  if (aff->op == Op::Sub) {
    left = aff->operands[0];
    right = aff->operands[1];
  } else if (aff->op == Op::Add && aff->operands[0]->op == Op::Sub) {
    left = add(aff->operands[0]->operands[0], aff->operands[1]);
    right = aff->operands[0]->operands[1];
  } else if (aff->op == Op::Neg) {
    left = ir::int_const(0);
    right = aff->operands[0];
  }
  return ir::simplify(ir::make(equality ? Op::Eq : Op::Ge, {left, right}));
}

std::vector<Constraint> all_constraints(const isl::basic_set& piece) {
  const ConstraintList list(checked(isl_basic_set_get_constraint_list(piece.get())));
  const isl_size count = isl_constraint_list_n_constraint(list.get());
  if (count < 0) throw OverBudget("isl returned nothing");
  std::vector<Constraint> constraints;
  for (int i = 0; i < count; ++i) constraints.emplace_back(checked(isl_constraint_list_get_constraint(list.get(), i)));
  return constraints;
}

bool is_equality(const Constraint& constraint) { return yes(isl_constraint_is_equality(constraint.get())); }

bool implied_by(const isl::set& context, const Constraint& constraint) {
  isl_set* parameters = isl_set_params(isl_set_from_basic_set(isl_basic_set_from_constraint(isl_constraint_copy(constraint.get()))));
  return context.is_subset(isl::manage(checked(parameters)));
}

class PieceReader {
 public:
  PieceReader(const isl::basic_set& piece, const isl::set& context, const SpaceNames& names)
      : piece_(piece), context_(context), names_(names) {}

  ir::NestPiece read(const NestNames& names) {
    const std::vector<Constraint> constraints = all_constraints(piece_);
    if (std::any_of(constraints.begin(), constraints.end(), is_equality)) read_stride();
    for (const Constraint& constraint : constraints) add_constraint(constraint);
    if (loop_.lower.empty()) loop_.lower.push_back(ir::int_const(0));
    for (const Expr& bound : names.upper) add_once(loop_.upper, bound);
    loop_.variable = names.visited;
    result_.loops.push_back(std::move(loop_));
    result_.value = ir::var(names.visited);
    return std::move(result_);
  }

 private:
  /// Strides come from equalities only; isl is asked about a copy, because it changes what it is asked about.
  void read_stride() {
    const isl::set alone = detached(isl::set(piece_));
    const StrideInfo info(checked(isl_set_get_stride_info(alone.get(), 0)));
    const int64_t stride = small_integer(isl::manage(checked(isl_stride_info_get_stride(info.get()))));
    if (stride <= 1) return;
    offset_ = isl::manage(checked(isl_stride_info_get_offset(info.get())));
    const ScaledAffine offset = scaled_affine(offset_, names_);
    if (offset.uses_dimensions || offset.denominator != 1) return;
    loop_.stride = stride;
    loop_.offset = offset.expr;
  }

  void add_constraint(const Constraint& constraint) {
    const bool equality = is_equality(constraint);
    const isl::aff aff = isl::manage(checked(isl_constraint_get_aff(constraint.get())));
    const isl::aff rest = without_visited(aff);
    const ScaledAffine remainder = scaled_affine(rest, names_);
    if (remainder.uses_dimensions) {
      if (is_stride(constraint, equality)) return;
      result_.inner.push_back(condition(scaled_affine(aff, names_).expr, equality));
      add_implied_bound(aff);
      if (equality) add_implied_bound(aff.neg());
    } else if (const int64_t factor = factor_of_visited(aff); factor != 0) {
      add_bounds(factor, rest, equality);
    } else if (!implied_by(context_, constraint)) {
      add_once(result_.guards, condition(remainder.expr, equality));
    }
  }

  static isl::aff without_visited(const isl::aff& aff) {
    return isl::manage(checked(isl_aff_set_coefficient_si(aff.copy(), isl_dim_in, 0, 0)));
  }
  static int64_t factor_of_visited(const isl::aff& aff) {
    return small_integer(isl::manage(checked(isl_aff_get_coefficient_val(aff.get(), isl_dim_in, 0))));
  }

  /// The bound that aff >= 0 implies when quotients are bounded by fractions.
  void add_implied_bound(const isl::aff& aff) {
    const isl::aff relaxed = at_least(aff);
    const isl::val denominator = isl::manage(checked(isl_aff_get_denominator_val(relaxed.get())));
    const isl::aff whole = relaxed.scale(denominator);
    const int64_t factor = factor_of_visited(whole);
    if (factor != 0) add_bounds(factor, without_visited(whole), false);
  }

  /// An affine expression without divisions that is nowhere less: floor(e / m) lies in [(e - m + 1) / m, e / m].
  static isl::aff at_least(isl::aff aff) {
    const isl_size divisions = isl_aff_dim(aff.get(), isl_dim_div);
    if (divisions < 0) throw OverBudget("isl returned nothing");
    for (int i = divisions - 1; i >= 0; --i) {  // The last first: divisions may use earlier ones.
      const isl::val factor = isl::manage(checked(isl_aff_get_coefficient_val(aff.get(), isl_dim_div, i)));
      if (factor.is_zero()) continue;
      isl::aff fraction = isl::manage(checked(isl_aff_get_div(aff.get(), i)));
      if (factor.is_neg()) fraction = lowered(fraction);
      aff = isl::manage(checked(isl_aff_set_coefficient_si(aff.copy(), isl_dim_div, i, 0)));
      aff = aff.add(fraction.scale(factor));
      return at_least(aff);
    }
    return aff;
  }

  /// e / m - (m - 1) / m.
  static isl::aff lowered(const isl::aff& fraction) {
    const isl::val m = isl::manage(checked(isl_aff_get_denominator_val(fraction.get())));
    const isl::val shift = isl::val::one(m.ctx()).sub(m).div(m);
    return isl::manage(checked(isl_aff_add_constant_val(fraction.copy(), shift.copy())));
  }

  /// factor * v + rest >= 0, or == 0.
  void add_bounds(int64_t factor, const isl::aff& rest, bool equality) {
    const Expr bound = scaled_affine(factor > 0 ? rest.neg() : rest, names_).expr;  // |factor| * v >= bound, or <= bound
    const int64_t size = std::abs(factor);
    if (factor > 0 || equality) add_once(loop_.lower, ceiling_divide(bound, size));
    if (factor < 0 || equality) add_once(loop_.upper, floor_divide(bound, size));
  }

  /// True when v ≡ offset (mod stride) gives the constraint back.
  bool is_stride(const Constraint& constraint, bool equality) const {
    if (!equality || loop_.stride <= 1) return false;
    const isl::set given = isl::manage(checked(
        isl_set_from_basic_set(isl_basic_set_from_constraint(isl_constraint_copy(constraint.get())))));
    isl_local_space* local = isl_local_space_from_space(isl_set_get_space(given.get()));
    isl_aff* distance = isl_aff_sub(isl_aff_var_on_domain(local, isl_dim_set, 0), offset_.copy());
    isl_val* stride = isl_val_int_from_si(piece_.ctx().get(), loop_.stride);
    const isl::set lattice = isl::manage(checked(isl_set_from_basic_set(isl_aff_zero_basic_set(isl_aff_mod_val(distance, stride)))));
    return lattice.is_subset(given);
  }

  const isl::basic_set& piece_;
  const isl::set& context_;
  const SpaceNames& names_;
  isl::aff offset_;
  ir::Loop loop_;
  ir::NestPiece result_;
};

}  // namespace

isl::basic_set outer_as_parameter(const isl::basic_set& piece, int outer) {
  const isl_size count = isl_basic_set_dim(piece.get(), isl_dim_param);
  if (count < 0) throw OverBudget("isl returned nothing");
  isl_basic_set* moved = isl_basic_set_move_dims(piece.copy(), isl_dim_param, count, isl_dim_set, outer, 1);
  return isl::manage(checked(isl_basic_set_set_dim_name(moved, isl_dim_param, count, "outer")));
}

isl::set outer_context(const isl::set& context, const isl::set& set, std::optional<int64_t> outer_end) {
  const std::string end = outer_end ? " and outer < " + std::to_string(*outer_end) : "";
  const isl::set outer(context.ctx(), "[outer] -> { : outer >= 0" + end + " }");
  const isl::set both = context.intersect(outer);
  return isl::manage(checked(isl_set_align_params(both.copy(), isl_space_params(isl_set_get_space(set.get())))));
}

std::vector<Expr> read_conditions(const isl::basic_set& parameters, const isl::set& context, const SpaceNames& names) {
  std::vector<Expr> conditions;
  for (const Constraint& constraint : all_constraints(parameters)) {
    if (implied_by(context, constraint)) continue;
    const isl::aff aff = isl::manage(checked(isl_constraint_get_aff(constraint.get())));
    add_once(conditions, condition(scaled_affine(aff, names).expr, is_equality(constraint)));
  }
  return conditions;
}

ir::LoopNest read_nest(const std::vector<isl::basic_set>& pieces, int outer, const isl::set& context, const Parameters& parameters,
                       const NestNames& names) {
  SpaceNames space;
  for (size_t i = 0; i < parameters.size(); ++i) space.parameters.push_back(parameters.expr(i));
  space.parameters.push_back(names.outer);
  space.dimensions = {ir::var(names.visited)};
  ir::LoopNest nest;
  for (const isl::basic_set& piece : pieces) {
    const isl::basic_set moved = outer_as_parameter(piece, outer);
    const isl::set known = outer_context(context, isl::set(moved), names.outer_end);
    if (isl::set(moved).intersect_params(known).is_empty()) continue;
    nest.pieces.push_back(PieceReader(moved, known, space).read(names));
  }
  return nest;
}

}  // namespace heddle::analysis
