#include "src/plan/split_passes.h"

#include <fmt/format.h>

#include "src/ir/rewrite.h"
#include "src/plan/make_plan.h"
#include "src/plan/pass_work.h"

namespace heddle::plan {
namespace {

constexpr double kWorthAsking = 0.05;  ///< Share of the cost that the split must be able to save before facts are asked.

bool may_pay(const KernelPlan& plan, const GridWork& work, const CpuCosts& costs, double cost) {
  if (plan.passes[0].source == TileSource::Tested) return plan.problem.options.use_nests.value_or(true);
  const double vectors = static_cast<double>(plan.tile_rows) / plan.problem.target.lanes();
  const double partial = static_cast<double>(work.passes[0].partial.tiles * plan.tile_keys) * vectors;
  return partial * formula_cycles(plan.passes[0].mask, costs) > kWorthAsking * cost;
}

}  // namespace

KernelPlan split_passes(const KernelPlan& plan, TileFacts& facts) {
  if (plan.family != Family::Fused || plan.passes.size() != 1 || !plan.passes[0].mask || plan.passes[0].mask->op != ir::Op::Or) return plan;
  if (plan.passes[0].source == TileSource::Listed) return plan;
  const CpuCosts costs = CpuCosts::of(plan.problem.target);
  const GridWork work = count_work(plan);
  const double cost = price(plan.problem, work, costs);
  if (!may_pay(plan, work, costs, cost)) return plan;
  const ir::Expr a = plan.passes[0].mask->operands[0], b = plan.passes[0].mask->operands[1];
  const ir::Expr rest = ir::simplify(ir::make(ir::Op::And, {b, ir::make(ir::Op::Not, {a})}));
  KernelPlan split = plan;
  split.passes = {make_pass(a, {plan.tile_rows, plan.tile_keys}, facts), make_pass(rest, {plan.tile_rows, plan.tile_keys}, facts)};
  const double split_cost = price(plan.problem, count_work(split), costs);
  KernelPlan chosen = split_cost < cost ? split : plan;
  chosen.alternatives.push_back({split_cost < cost ? "one pass over the whole mask" : "two passes over the parts of ||",
                                 split_cost < cost ? cost : split_cost,
                                 fmt::format("{:.2f}x", split_cost < cost ? cost / split_cost : split_cost / cost)});
  return chosen;
}

}  // namespace heddle::plan
