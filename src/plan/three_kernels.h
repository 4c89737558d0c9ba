// The three-kernel plan of SPLAT: scores into compressed rows, their softmax, the product with V.
//
// Reference: Gupta, Yuan, Jain, Ge, Aponte, Zhou, Mendis, "SPLAT: A framework for optimised GPU code-generation for SParse reguLar
// ATtention" (OOPSLA 2025). Here the three run one behind the other in every row block, so that its values stay in the cache.
#pragma once
#include "src/plan/cost_model.h"
#include "src/plan/kernel_plan.h"
#include "src/plan/tile_facts.h"

namespace heddle::plan {

/// The plan of `fused`'s tile shape that keeps its probabilities: one pass a component of the mask. Throws UserError where the rows of
/// the mask are no short list of arithmetic progressions, with the reason.
KernelPlan three_kernels(const KernelPlan& fused, TileFacts& facts);

/// What three kernels would cost beside a fused plan of this work and cost. They lose for every mask: what they save is the rescaling of
/// the output, what they add is two round trips of every score through memory. So they are for launches that want the probabilities.
Alternative three_kernels_alternative(const ir::AttentionProblem& problem, const GridWork& fused, double cost);

}  // namespace heddle::plan
