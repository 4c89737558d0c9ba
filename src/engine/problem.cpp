#include "src/engine/problem.h"
#include <fmt/format.h>
#include <algorithm>
#include "src/ir/rewrite.h"
#include "src/support/half.h"

namespace heddle::engine {

namespace {

constexpr int64_t kMaxHeadDim = 256, kMaxTileRows = 1024;

void check_names(const ir::AttentionProblem& problem) {
  const ir::ParameterOrder order = ir::parameter_order(problem);
  for (const std::string& name : order.ints) {
    if (std::ranges::binary_search(order.reals, name)) {
      throw UserError(fmt::format("the parameter '{}' is an integer in one place and a real in another", name), "use two names");
    }
  }
}

void check_dtype(const AttentionSpec& spec) {
  if (support::is_operand_type(spec.dtype)) return;
  throw UserError(fmt::format("the dtype is {}; expected float32, bfloat16 or float16", to_string(spec.dtype)));
}

void check_sizes(const AttentionSpec& spec, const Target& target) {
  if (spec.head_dim < 1 || spec.head_dim > kMaxHeadDim) {
    throw UserError(fmt::format("head_dim is {}; expected 1 to {}", spec.head_dim, kMaxHeadDim));
  }
  if (spec.value_dim < 0 || spec.value_dim > kMaxHeadDim) {
    throw UserError(fmt::format("value_dim is {}; expected 1 to {}, or 0 for head_dim", spec.value_dim, kMaxHeadDim));
  }
  if (spec.queries < 0) throw UserError(fmt::format("queries is {}; expected the rows of a launch, or 0 for any number", spec.queries));
  if (!spec.tile_rows) return;
  if (*spec.tile_rows < 1 || *spec.tile_rows > kMaxTileRows || *spec.tile_rows % target.lanes() != 0) {
    throw UserError(fmt::format("tile_rows is {}; expected a multiple of {} (lanes of {}) up to {}", *spec.tile_rows, target.lanes(),
                                target.to_string(), kMaxTileRows));
  }
}

/// Null for the mask of every pair.
ir::Expr guarded(const ir::Expr& mask, const ir::Expr& score) {
  const ir::Expr guarded = ir::simplify(ir::guard_divisors(mask ? mask : ir::bool_const(true), score));
  return ir::equal(guarded, ir::bool_const(true)) ? nullptr : guarded;
}

}  // namespace

bool few_queries_first(const AttentionSpec& spec) {
  return spec.queries >= 1 && spec.queries <= kFewQueries && !spec.probabilities;
}

ir::AttentionProblem problem_of(const AttentionSpec& spec, const Target& target) {
  check_dtype(spec);
  check_sizes(spec, target);
  ir::AttentionProblem problem;
  problem.score = spec.score.node();
  problem.mask = guarded(spec.mask.node(), problem.score);
  problem.head_dim = spec.head_dim;
  problem.value_dim = spec.value_dim == 0 ? spec.head_dim : spec.value_dim;
  problem.dtype = spec.dtype;
  problem.lse = spec.lse;
  problem.probabilities = spec.probabilities;
  problem.few_queries = few_queries_first(spec);
  problem.target = target;
  problem.options = {spec.tile_rows, spec.use_nests};
  check_names(problem);
  return problem;
}

}  // namespace heddle::engine
