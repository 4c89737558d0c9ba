#include "src/plan/pass_work.h"

#include "src/plan/make_plan.h"

namespace heddle::plan {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::map<std::string, int64_t> nominal_names(const ir::AttentionProblem& problem, int64_t length) {
  std::map<std::string, int64_t> names = {{"b", 0}, {"h", 0}, {"B", 1}, {"H", 1}, {"Hkv", 1}, {"Sq", length}, {"Sk", length}};
  for (const std::string& name : ir::parameter_order(problem).ints) names[name] = kNominalParameter;
  return names;
}

GridWork count_work(const KernelPlan& plan) {
  std::map<std::string, int64_t> names = nominal_names(plan.problem, plan.nominal_length);
  const int64_t tiles = ceil_div(plan.nominal_length, plan.tile_keys);
  names["NK"] = tiles, names["NF"] = plan.nominal_length / plan.tile_keys;
  GridWork work = {plan.tile_rows, plan.tile_keys, ceil_div(plan.nominal_length, plan.tile_rows), {}};
  const StepShape shape = {plan.tile_keys, plan.keys_per_step, register_tile(plan.problem.target, plan.tile_rows).keys};
  for (const PassPlan& pass : plan.passes) {
    PassWork counted;
    counted.mask = pass.mask;
    if (pass.source != TileSource::Nest) {
      counted.partial.tiles = tiles * work.blocks;
      counted.tested_tiles = pass.source == TileSource::Tested ? counted.partial.tiles : 0;
      counted.partial.steps = ceil_div(plan.nominal_length, plan.keys_per_step) * work.blocks;
    }
    for (int64_t qb = 0; qb < work.blocks; ++qb) {
      names["qb"] = qb;
      counted.full += tally(pass.full, names, shape);
      counted.partial += tally(pass.partial, names, shape);
    }
    work.passes.push_back(counted);
  }
  return work;
}

std::optional<int64_t> allowed_pairs(const ir::Expr& mask, const KernelPlan& plan, TileFacts& facts) {
  if (!mask) return plan.nominal_length * plan.nominal_length;
  return facts.pairs(mask, {plan.nominal_length, plan.nominal_length}, nominal_names(plan.problem, plan.nominal_length));
}

}  // namespace heddle::plan
