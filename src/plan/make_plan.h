// Chooses how an attention is computed: tile shape and where tiles come from, by pricing candidates with exact tile counts.
//
// Before: mask and score are typed, divisors guarded. After: a plan that verify() accepts, right for every length; only its speed
// depends on the counts, which are taken at Sq = Sk = nominal_length, b = h = 0, one head, dynamic integers at kNominalParameter.
#pragma once
#include "src/plan/kernel_plan.h"
#include "src/plan/tile_facts.h"

namespace heddle::plan {

inline constexpr int64_t kNominalParameter = 256;

KernelPlan make_plan(const ir::AttentionProblem& problem, TileFacts& facts);

/// All tiles of the plane: full ones below NF, the clipped one at the rim as partial.
analysis::TileRelation dense_tiles(analysis::TileShape shape);

/// One pass over all pairs of `mask` (null: every pair), from its tile relation; tested in the kernel where there is none.
PassPlan make_pass(const ir::Expr& mask, analysis::TileShape shape, TileFacts& facts);

}  // namespace heddle::plan
