// The same attention done densely with OpenBLAS, as one would without a compiler: the baseline that kernels are compared with.
//
// For every block of 256 query rows of a head: S = scale * Q K^T by sgemm, then mask and softmax by rows with vector code, then
// P V by sgemm. Threads share out row blocks; sgemm runs single-threaded in each. The mask is evaluated beforehand, into bytes,
// and that is not timed. A score formula is left out, which only makes the baseline faster.
#pragma once
#include <cstdint>

#include "heddle/graph.h"
#include "runtime/thread_pool.h"
#include "src/ir/attention_problem.h"

namespace heddle::engine {

struct DenseRun {
  double milliseconds = 0;           ///< Of all row blocks: measured, and scaled up when only some were.
  int64_t blocks = 0, measured = 0;  ///< Row blocks of all heads, and how many of them ran.
};

/// Above this many pairs only a part of the query rows runs densely, and its time is scaled up: all rows cost the same.
inline constexpr int64_t kMaxDensePairs = int64_t{1} << 28;

/// Runs once (of too many row blocks evenly spaced ones); writes the rows it computes to `o` [batch, heads, sq, value_dim],
/// dense float32. Throws ToolchainError without OpenBLAS.
DenseRun run_dense(const ir::AttentionProblem& problem, const AttentionUse& use, const Tensor& o, runtime::ThreadPool& pool);

}  // namespace heddle::engine
