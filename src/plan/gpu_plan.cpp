#include "src/plan/gpu_plan.h"

#include <fmt/format.h>

#include "heddle/error.h"
#include "src/ir/rewrite.h"
#include "src/plan/make_plan.h"

namespace heddle::plan {
namespace {

constexpr int64_t kWarpRows = 16, kDimStep = 16, kMostDims = 128;

void check_dims(const char* name, int64_t dims) {
  if (dims % kDimStep == 0 && dims <= kMostDims) return;
  throw UserError(fmt::format("{} is {}: GPU kernels take multiples of {} up to {}", name, dims, kDimStep, kMostDims));
}

int64_t rows_of(const ir::AttentionProblem& problem) {
  const int64_t rows = problem.options.tile_rows.value_or(64);
  if (rows % kWarpRows == 0 && rows <= 128) return rows;
  throw UserError(fmt::format("tile_rows is {}: GPU kernels take multiples of {} up to 128", rows, kWarpRows));
}

}  // namespace

KernelPlan make_gpu_plan(const ir::AttentionProblem& problem, const GpuTarget& target, DType dtype, TileFacts& facts) {
  check_dims("head_dim", problem.head_dim);
  check_dims("value_dim", problem.value_dim);
  KernelPlan plan;
  plan.problem = problem;
  plan.gpu = target.to_string();
  plan.tile_rows = rows_of(problem);
  plan.tile_keys = dtype == DType::Float32 ? 32 : 64;
  plan.keys_per_step = plan.tile_keys;
  const ir::Expr mask = problem.mask ? ir::simplify(problem.mask) : nullptr;
  const bool constant = mask && mask->op == ir::Op::BoolConst;
  if (constant && mask->integer == 0) {
    plan.notes = {"The mask allows no pair: nothing is read, O = 0 and LSE = -inf"};
    return plan;
  }
  plan.passes = {make_pass(constant ? nullptr : mask, {plan.tile_rows, plan.tile_keys}, facts)};
  plan.notes = {fmt::format("{}: blocks of {} rows, tiles of {} keys, one warp for 16 rows", target.to_string(), plan.tile_rows, plan.tile_keys)};
  return plan;
}

}  // namespace heddle::plan
