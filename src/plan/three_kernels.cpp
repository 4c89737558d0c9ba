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

}  // namespace

KernelPlan three_kernels(const KernelPlan& fused, TileFacts& facts) {
  KernelPlan plan = fused;
  const Expr mask = fused.problem.mask ? ir::simplify(fused.problem.mask) : nullptr;
  plan.family = Family::ThreeKernels;
  plan.components = components_of(mask && ir::equal(mask, ir::bool_const(true)) ? nullptr : mask, facts);
  plan.passes.clear();
  plan.values_count = int_const(0);
  for (const RowComponent& c : plan.components) {
    PassPlan pass = make_pass(plan.components.size() == 1 ? mask : mask_of(c), {plan.tile_rows, plan.tile_keys}, facts);
    const Expr place = make(Op::Div, {make(Op::Sub, {ir::var("k"), c.offset}), int_const(c.stride)});
    pass.slot = ir::simplify(make(Op::Add, {plan.values_count, place}));
    plan.values_count = ir::simplify(make(Op::Add, {plan.values_count, c.count}));
    plan.passes.push_back(std::move(pass));
  }
  return plan;
}

void weigh_three_kernels(KernelPlan& fused) {
  const bool nests = !fused.passes.empty() && fused.passes[0].source == TileSource::Nest;
  if (!nests || fused.alternatives.empty()) return;
  const CpuCosts costs = CpuCosts::of(fused.problem.target);
  const GridWork work = count_work(fused);
  const double cost = price_three_kernels(fused.problem, work, costs), chosen = price(fused.problem, work, costs);
  fused.alternatives.push_back({fmt::format("three kernels on compressed rows, {} rows x {} keys", fused.tile_rows, fused.tile_keys), cost,
                                fmt::format("{:.2f}x: every score goes to memory and back twice", cost / std::max(chosen, 1.0))});
}

}  // namespace heddle::plan
