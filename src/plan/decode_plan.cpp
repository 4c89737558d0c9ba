#include "src/plan/decode_plan.h"

#include <algorithm>
#include <fmt/format.h>

#include "src/ir/rewrite.h"
#include "src/plan/make_plan.h"
#include "src/plan/pass_work.h"

namespace heddle::plan {
namespace {

constexpr int64_t kTileKeys = 16, kNominalGroup = 4;
constexpr double kBytesPerCycle = 5;  ///< Of main memory, a core.

/// Nests of one query row; where rows of a block may differ, or no closed loops exist, every step is tested.
PassPlan decode_pass(const ir::Expr& mask, bool use_nests, TileFacts& facts, std::string& why) {
  PassPlan tested;
  tested.mask = mask;
  tested.source = TileSource::Tested;
  if (mask) tested.components = "pairs with " + ir::print(mask);
  if (mask && !use_nests) return why = "the options ask for it", tested;
  if (mask && !ir::tables(mask).empty()) return why = "it reads tables", tested;
  if (mask && ir::mentions(mask, "h")) return why = "heads of a block differ in it", tested;
  PassPlan pass = make_pass(mask, {1, kTileKeys}, facts);
  if (pass.source == TileSource::Tested) why = facts.reason(mask);
  return pass;
}

/// Keys that one query visits at the nominal length, the query the last.
int64_t visited_keys(const KernelPlan& plan) {
  std::map<std::string, int64_t> names = nominal_names(plan.problem, plan.nominal_length);
  names["NK"] = names["NF"] = plan.nominal_length / kTileKeys;
  names["Sq"] = 1, names["qb"] = 0;
  const StepShape shape = {kTileKeys, plan.keys_per_step, 1};
  int64_t tiles = 0;
  for (const PassPlan& pass : plan.passes) {
    if (pass.source != TileSource::Nest) return plan.nominal_length;
    tiles += tally(pass.full, names, shape).tiles + tally(pass.partial, names, shape).tiles;
  }
  return tiles * kTileKeys;
}

double stream_cycles(const ir::AttentionProblem& problem, int64_t keys) {
  return static_cast<double>(keys * (problem.head_dim + problem.value_dim) * size_of(problem.dtype)) / kBytesPerCycle;
}

/// The same query in row blocks: one row of a block is used, and every head of the group reads K and V.
double row_block_cycles(const ir::AttentionProblem& problem, int64_t keys) {
  GridWork work = {problem.target.lanes(), kTileKeys, 1, {}};
  work.passes.resize(1);
  work.passes[0].full.tiles = keys / kTileKeys;
  work.passes[0].full.steps = keys / kKeysPerStep;
  return kNominalGroup * price(problem, work, CpuCosts::of(problem.target));
}

void add_alternatives(KernelPlan& plan) {
  const ir::AttentionProblem& problem = plan.problem;
  const int64_t keys = visited_keys(plan);
  const double cost = stream_cycles(problem, keys), other = std::max(row_block_cycles(problem, keys), cost);
  plan.alternatives.push_back({"few queries, heads of a group as rows", cost,
                               fmt::format("chosen: {} keys, K and V read once at {:.0f} bytes a cycle", keys, kBytesPerCycle)});
  plan.alternatives.push_back({fmt::format("row blocks, {} rows", problem.target.lanes()), other,
                               fmt::format("{:.2f}x: 1 row in {} is used, and {} heads of a group read K and V each", other / std::max(cost, 1.0),
                                           problem.target.lanes(), kNominalGroup)});
}

std::string source_note(const PassPlan& pass, const std::string& why) {
  if (pass.source == TileSource::Tested) return "Every step of keys is tested in the kernel because " + why;
  return pass.mask ? "Closed loops visit the key tiles of each query" : "Every pair is allowed: all steps but the last run without a predicate";
}

}  // namespace

KernelPlan make_decode_plan(const ir::AttentionProblem& problem, TileFacts& facts) {
  KernelPlan plan;
  plan.problem = problem;
  plan.tile_rows = kDecodeRows;
  plan.tile_keys = kTileKeys;
  plan.keys_per_step = kDecodeStepKeys;
  const ir::Expr mask = problem.mask ? ir::simplify(problem.mask) : nullptr;
  const bool constant = mask && mask->op == ir::Op::BoolConst;
  if (constant && mask->integer == 0) {
    plan.notes.push_back("The mask allows no pair: nothing is read, O = 0 and LSE = -inf");
  } else {
    std::string why;
    plan.passes.push_back(decode_pass(constant ? nullptr : mask, problem.options.use_nests.value_or(true), facts, why));
    plan.notes.push_back(source_note(plan.passes[0], why));
  }
  add_alternatives(plan);
  return plan;
}

}  // namespace heddle::plan
