// Splits a mask `A || B` into two passes over disjoint parts, A and B && !A, where the model says that it pays.
//
// Tiles of the parts are never fewer than tiles of the whole, so a split can only save predicate work in partial tiles, or the
// testing of tiles when the whole has no tile relation and the parts have. Facts of the parts are asked for in these cases only.
// Before: a plan of one pass. After: the same plan, or one of two passes; results are equal up to rounding.
#pragma once
#include "src/plan/kernel_plan.h"
#include "src/plan/tile_facts.h"

namespace heddle::plan {

KernelPlan split_passes(const KernelPlan& plan, TileFacts& facts);

}  // namespace heddle::plan
