// What one attention of a model took, how that compares with doing it densely, and how far it is from the judge.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/graph.h"
#include "runtime/thread_pool.h"
#include "src/engine/dense_attention.h"
#include "src/engine/mask_rows.h"

namespace heddle::engine {

/// Milliseconds of equal runs.
struct Times {
  std::vector<double> runs;
  double fastest() const;
  double median() const;  ///< The lower one of the two in the middle.
};

struct AttentionMeasure {
  Times kernel;                   ///< The attention as the model runs it.
  Times dense_kernel;             ///< Our kernel of the same problem without its mask, scaled up to all query rows.
  int64_t dense_rows = 0;         ///< Query rows it ran on: the first ones, kMaxDensePairs at most.
  KernelReport dense_report;      ///< How that one was found.
  std::optional<Times> openblas;  ///< run_dense(); empty without OpenBLAS.
  std::string openblas_note;      ///< Core type and sampling, or why there is no time.
  PairCount pairs;
  double error = 0, bar = 0;  ///< Against the judge, and what accuracy_bar() allows.
  int64_t judged_rows = 0;    ///< Query rows the error was taken over.

  /// (dense_kernel * density) / kernel, of fastest times: 1 when a pair costs what it costs in the dense kernel.
  double efficiency() const;
  bool accurate() const { return error <= bar; }
};

/// Pairs the judge visits at most; beyond, the error is taken over evenly spaced query rows of all heads.
inline constexpr int64_t kMaxJudgedPairs = int64_t{1} << 26;

/// Measures in `repeats` (>= 1) rounds, in each of which every contender runs once, the kernel once more beforehand: what ran
/// last in the round before left caches and threads to others. `use` holds its operands (RunOptions::keep_attention).
AttentionMeasure measure_attention(Engine& engine, const AttentionUse& use, int repeats, runtime::ThreadPool& pool);

}  // namespace heddle::engine
