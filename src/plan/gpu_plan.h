// The plan of an attention on a GPU: tiles of the size its matrix units and shared memory take, visited as the facts say.
#pragma once
#include "heddle/tensor.h"
#include "src/plan/kernel_plan.h"
#include "src/plan/tile_facts.h"
#include "src/support/gpu_target.h"

namespace heddle::plan {

/// One fused pass over the mask in tiles of 64 rows (PlanOptions::tile_rows: a multiple of 16) and as many keys as let a block's tiles of
/// K and V fit twice into shared memory: 64, or 32 for float32. Right for every length. Throws UserError for head dims that no kernel takes.
KernelPlan make_gpu_plan(const ir::AttentionProblem& problem, const GpuTarget& target, DType dtype, TileFacts& facts);

}  // namespace heddle::plan
