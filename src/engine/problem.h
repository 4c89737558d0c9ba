// From what a user asks for to the compile-time problem: checks an AttentionSpec and completes its formulas.
#pragma once
#include "heddle/engine.h"
#include "src/ir/attention_problem.h"

namespace heddle::engine {

/// Throws UserError naming the field when the spec is illegal for the target. Divisors of mask and score are guarded.
ir::AttentionProblem problem_of(const AttentionSpec& spec, const Target& target);

}  // namespace heddle::engine
