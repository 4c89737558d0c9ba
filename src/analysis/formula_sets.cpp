#include "src/analysis/formula_sets.h"
#include <set>
#include <isl/aff.h>
#include <isl/space.h>
#include "src/analysis/normal_form.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

class SetBuilder {
 public:
  SetBuilder(const isl::set& universe, const Parameters& parameters)
      : universe_(universe), empty_(isl::set::empty(universe.space())), parameters_(parameters) {}

  isl::set build(const Expr& e) const {
    switch (e->op) {
      case Op::BoolConst: return e->integer != 0 ? universe_ : empty_;
      case Op::And: return build(e->operands[0]).intersect(build(e->operands[1]));
      case Op::Or: return build(e->operands[0]).unite(build(e->operands[1]));
      default: return comparison(e);
    }
  }

 private:
  isl::set comparison(const Expr& e) const {
    const isl::aff d = affine(e->operands.at(0)), zero = constant(0);
    switch (e->op) {
      case Op::Lt: return d.lt_set(zero);
      case Op::Le: return d.le_set(zero);
      case Op::Gt: return d.gt_set(zero);
      case Op::Ge: return d.ge_set(zero);
      case Op::Eq: return d.eq_set(zero);
      case Op::Ne: return d.ne_set(zero);
      default: throw NotAffine(ir::print(e));
    }
  }

  isl::aff affine(const Expr& e) const {
    switch (e->op) {
      case Op::IntConst: return constant(e->integer);
      case Op::Var:
      case Op::Param: return leaf(e);
      case Op::Neg: return affine(e->operands[0]).neg();
      case Op::Add: return affine(e->operands[0]).add(affine(e->operands[1]));
      case Op::Sub: return affine(e->operands[0]).sub(affine(e->operands[1]));
      case Op::Mul: return product(e);
      case Op::Div:
      case Op::Mod: return quotient(e);
      default: throw NotAffine(ir::print(e));
    }
  }

  isl::aff leaf(const Expr& e) const {
    if (e->name == "q") return variable(isl_dim_set, 0);
    if (e->name == "k") return variable(isl_dim_set, 1);
    const std::optional<size_t> index = parameters_.find(e->name);
    if (!index) throw NotAffine("unknown name " + e->name);
    return variable(isl_dim_param, static_cast<unsigned>(*index));
  }

  isl::aff product(const Expr& e) const {
    const Expr& a = e->operands[0];
    const Expr& b = e->operands[1];
    if (const auto factor = ir::as_int_constant(a)) return affine(b).scale(value(*factor));
    if (const auto factor = ir::as_int_constant(b)) return affine(a).scale(value(*factor));
    throw NotAffine(ir::print(e));
  }

  /// Floor division and modulo; by zero both are zero.
  isl::aff quotient(const Expr& e) const {
    const auto divisor = ir::as_int_constant(e->operands[1]);
    if (!divisor) throw NotAffine(ir::print(e));
    if (*divisor == 0) return constant(0);
    const isl::aff dividend = affine(e->operands[0]);
    if (e->op == Op::Mod && *divisor > 0) return dividend.mod(value(*divisor));
    const isl::aff floor = dividend.scale_down(value(*divisor)).floor();
    return e->op == Op::Div ? floor : dividend.sub(floor.scale(value(*divisor)));
  }

  isl::val value(int64_t v) const { return isl::manage(checked(isl_val_int_from_si(universe_.ctx().get(), v))); }
  isl_local_space* local_space() const { return isl_local_space_from_space(isl_set_get_space(universe_.get())); }
  isl::aff constant(int64_t v) const {
    return isl::manage(checked(isl_aff_val_on_domain(local_space(), value(v).release())));
  }
  isl::aff variable(isl_dim_type type, unsigned position) const {
    return isl::manage(checked(isl_aff_var_on_domain(local_space(), type, position)));
  }

  isl::set universe_, empty_;
  const Parameters& parameters_;
};

std::optional<int64_t> least_value(const ir::ExprNode& leaf) {
  static const std::set<std::string> kSizes = {"B", "H", "Hkv", "Sq", "Sk"};
  if (leaf.op == Op::Param) return std::nullopt;
  return kSizes.contains(leaf.name) ? 1 : 0;
}

}  // namespace

void Parameters::add(std::string key, Expr expr, std::optional<int64_t> low) {
  entries_.push_back({std::move(key), std::move(expr), low});
}

Parameters Parameters::of(const Expr& formula, const std::map<std::string, Expr>& aliases) {
  std::map<std::string, Expr> leaves;
  ir::for_each_node(formula, [&](const Expr& e) {
    if ((e->op == Op::Var || e->op == Op::Param) && e->name != "q" && e->name != "k") leaves.emplace(e->name, e);
  });
  Parameters result;
  for (const auto& [name, leaf] : leaves) {
    const auto alias = aliases.find(name);
    result.add(name, alias == aliases.end() ? leaf : alias->second, least_value(*leaf));
  }
  return result;
}

std::optional<size_t> Parameters::find(const std::string& key) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].key == key) return i;
  }
  return std::nullopt;
}

std::string Parameters::name(const std::string& key) const { return "p" + std::to_string(find(key).value()); }

std::string Parameters::list() const {
  std::string text = "[";
  for (size_t i = 0; i < entries_.size(); ++i) text += (i == 0 ? "p" : ", p") + std::to_string(i);
  return text + "]";
}

std::string Parameters::bounds() const {
  std::string text = "1 = 1";
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].low) text += " and p" + std::to_string(i) + " >= " + std::to_string(*entries_[i].low);
  }
  return text;
}

Plane build_plane(const IslContext& context, const Expr& mask, const Parameters& parameters, const PlaneBounds& bounds) {
  const std::string list = parameters.list();
  Plane plane{parameters, isl::set(context.get(), list + " -> { : " + parameters.bounds() + " }"), {}, {}, {}};
  std::string box = "0 <= q and 0 <= k";
  if (bounds.q) box += " and q < " + std::to_string(*bounds.q);
  if (bounds.k) box += " and k < " + std::to_string(*bounds.k);
  plane.domain = isl::set(context.get(), list + " -> { [q, k] : " + box + " }").intersect_params(plane.context);
  const SetBuilder builder(isl::set::universe(plane.domain.space()), plane.parameters);
  plane.allowed = coalesce(builder.build(normal_form(mask, false)).intersect(plane.domain));
  plane.masked = coalesce(builder.build(normal_form(mask, true)).intersect(plane.domain));
  return plane;
}

}  // namespace heddle::analysis
