// From what a user asks for to the compile-time problem: checks an AttentionSpec and completes its formulas.
#pragma once
#include "heddle/engine.h"
#include "src/ir/attention_problem.h"

namespace heddle::engine {

/// Throws UserError naming the field when the spec is illegal for the target. Divisors of mask and score are guarded.
/// Query rows up to which the kernel for few queries is the better one: beyond, row blocks fill their lanes.
inline constexpr int64_t kFewQueries = 8;
/// Whether the kernel for few queries is the one to find with the Attention.
bool few_queries_first(const AttentionSpec& spec);

ir::AttentionProblem problem_of(const AttentionSpec& spec, const Target& target);

}  // namespace heddle::engine
