#include "src/plan/three_kernels.h"

#include <algorithm>
#include <fmt/format.h>

#include "heddle/error.h"
#include "src/ir/rewrite.h"
#include "src/plan/make_plan.h"
#include "src/plan/pass_work.h"

namespace heddle::plan {
namespace {

using ir::Expr;
using ir::int_const;
using ir::make;
using ir::Op;

constexpr size_t kMostComponents = 8;  ///< Each is two loops of code.

Expr all_of(const std::vector<Expr>& conditions) {
  Expr all;
  for (const Expr& condition : conditions) all = all ? make(Op::And, {all, condition}) : condition;
  return all;
}

/// The keys of a component: an arithmetic progression.
Expr mask_of(const RowComponent& c) {
  const Expr k = ir::var("k"), distance = make(Op::Sub, {k, c.offset});
  const Expr end = make(Op::Mul, {c.count, int_const(c.stride)});
  Expr mask = make(Op::And, {make(Op::Ge, {distance, int_const(0)}), make(Op::Lt, {distance, end})});
  if (c.stride > 1) mask = make(Op::And, {mask, make(Op::Eq, {make(Op::Mod, {distance, int_const(c.stride)}), int_const(0)})});
  return ir::simplify(mask);
}

/// Keys that row q has of a component: none where its conditions do not hold.
Expr keys_of(const analysis::AffineComponent& c) {
  const Expr count = make(Op::Max, {c.count, int_const(0)}), rows = all_of(c.rows);
  return ir::simplify(rows ? make(Op::Select, {rows, count, int_const(0)}) : count);
}

std::vector<RowComponent> components_of(const Expr& mask, TileFacts& facts) {
  if (!mask) return {{int_const(0), ir::var("Sk"), 1}};
  if (mask->op == Op::BoolConst) return {};
  const std::string what = fmt::format("probabilities of the mask `{}` cannot be kept as compressed rows", ir::print(mask));
  constexpr const char* kRemedy = "leave out AttentionSpec::probabilities, or give a mask whose rows are a few ranges of keys";
  if (!ir::tables(mask).empty()) throw UserError(what + ": it reads tables", kRemedy);
  const auto found = facts.components(mask);
  if (!found) throw UserError(what + ": its rows are no list of arithmetic progressions (" + facts.reason(mask) + ")", kRemedy);
  if (found->size() > kMostComponents) {
    throw UserError(fmt::format("{}: its rows need {} arithmetic progressions; at most {} are supported", what, found->size(), kMostComponents), kRemedy);
  }
  std::vector<RowComponent> components;
  for (const analysis::AffineComponent& c : *found) components.push_back({c.offset, keys_of(c), c.stride});
  return components;
}

std::string name_of(int64_t rows, int64_t keys) { return fmt::format("three kernels on compressed rows, {} rows x {} keys", rows, keys); }

/// Three kernels against one over the same passes.
std::vector<Alternative> choice(const KernelPlan& plan) {
  const CpuCosts costs = CpuCosts::of(plan.problem.target);
  const GridWork work = count_work(plan);
  return {{name_of(plan.tile_rows, plan.tile_keys), price_three_kernels(plan.problem, work, costs), "chosen: the probabilities are wanted"},
          {"fused, the same tiles", price(plan.problem, work, costs), "keeps no probabilities"}};
}

}  // namespace

KernelPlan three_kernels(const KernelPlan& fused, TileFacts& facts) {
  KernelPlan plan = fused;
  Expr mask = fused.problem.mask ? ir::simplify(fused.problem.mask) : nullptr;
  if (mask && ir::equal(mask, ir::bool_const(true))) mask = nullptr;
  plan.family = Family::ThreeKernels;
  plan.components = components_of(mask, facts);
  plan.passes.clear();
  plan.values_count = int_const(0);
  for (const RowComponent& c : plan.components) {
    PassPlan pass = make_pass(plan.components.size() == 1 ? mask : mask_of(c), {plan.tile_rows, plan.tile_keys}, facts);
    const Expr place = make(Op::Div, {make(Op::Sub, {ir::var("k"), c.offset}), int_const(c.stride)});
    pass.slot = ir::simplify(make(Op::Add, {plan.values_count, place}));
    plan.values_count = ir::simplify(make(Op::Add, {plan.values_count, c.count}));
    plan.passes.push_back(std::move(pass));
  }
  plan.alternatives = choice(plan);
  return plan;
}

Alternative three_kernels_alternative(const ir::AttentionProblem& problem, const GridWork& fused, double cost) {
  const double own = price_three_kernels(problem, fused, CpuCosts::of(problem.target));
  return {name_of(fused.tile_rows, fused.tile_keys), own,
          fmt::format("{:.2f}x: every score goes to memory and back twice", own / std::max(cost, 1.0))};
}

}  // namespace heddle::plan
