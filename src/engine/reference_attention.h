// The float64 judge applied to one attention of a graph: whole, or on some rows with the error of what was computed.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/graph.h"
#include "runtime/thread_pool.h"
#include "src/ir/attention_problem.h"

namespace heddle::engine {

/// The use with q, k and v in float32: the same arrays, or dense copies of what has 16 bits. Everything below takes such a use.
AttentionUse with_float32_inputs(const AttentionUse& use);

/// O [batch, heads, sq, value_dim], dense, for the float32 views q, k, v of `use`. Null formulas mean every pair and s itself.
std::vector<double> reference_attention(const ir::Expr& mask, const ir::Expr& score, const AttentionUse& use, int threads);

/// Largest |o - O| over these query rows of all batches and heads, O by the judge. Infinite where one of the two is not finite
/// and the other differs from it. `problem` is the guarded problem of use.kernel on float32.
double largest_error(const ir::AttentionProblem& problem, const AttentionUse& use, const std::vector<int64_t>& rows,
                     runtime::ThreadPool& pool);

/// The error that float32 attention may have: 2e-6 * sqrt(head_dim) for operands N(0, 1). Where V or the scores are larger the
/// rounding is, too, so the bar grows by max(1, rms V) * max(1, rms Q * rms K * scale * sqrt(head_dim)). Elements that are not
/// finite are left out of the root mean squares. O of 16 bits may err by what rounding weights and O to them can do beside:
/// 2 * unit roundoff * largest |V|.
double accuracy_bar(const AttentionUse& use);

}  // namespace heddle::engine
