// Chooses how attention of few queries over many keys is computed: where key tiles come from, and what it costs to stream K and V.
//
// Rows of a block are the query heads of one KV head at one query, so K and V are read once whatever the number of heads a KV head has.
// Before: problem.few_queries; mask and score typed, divisors guarded. After: a plan that verify() accepts, right for every shape.
#pragma once
#include "src/plan/kernel_plan.h"
#include "src/plan/tile_facts.h"

namespace heddle::plan {

/// Query heads of a block at most; further heads of a KV head make blocks of their own.
inline constexpr int64_t kDecodeRows = 16;
/// Keys of a step: scores and the rows of K stay in the first-level cache.
inline constexpr int64_t kDecodeStepKeys = 64;

KernelPlan make_decode_plan(const ir::AttentionProblem& problem, TileFacts& facts);

}  // namespace heddle::plan
