#include "src/engine/attention_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/blas.h"
#include "src/engine/problem.h"
#include "src/engine/reference_attention.h"
#include "src/engine/row_sample.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

double timed(const AttentionUse& use, const Attention& kernel, const Tensor& o) {
  LaunchOptions options;
  options.scale = use.scale;
  const support::Timer timer;
  kernel.run(use.q.view, use.k.view, use.v.view, o, nullptr, options);
  return timer.milliseconds();
}

Attention without_mask(Engine& engine, const AttentionUse& use) {
  AttentionSpec spec = use.kernel.spec();
  spec.mask = Mask();
  return engine.attention(spec);
}

std::string note_of(const DenseRun& run) {
  std::string note = "core type " + runtime::Blas::open().info().core;
  if (run.measured < run.blocks) note += fmt::format("; {} of {} row blocks ran, scaled up", run.measured, run.blocks);
  return note;
}

bool has_openblas(std::string& why) try {
  runtime::Blas::open();
  return true;
} catch (const ToolchainError& error) {
  why = error.what();
  return false;
}

/// Query rows whose allowed pairs stay within kMaxJudgedPairs, and whose mask evaluations within kMaxCountedPairs.
std::vector<int64_t> rows_to_judge(const AttentionUse& use, const PairCount& pairs) {
  if (pairs.all == 0) return sample_rows(use.sq, 1);
  const double a_row = std::max(1.0, pairs.allowed / static_cast<double>(use.sq));
  const double evaluated = pairs.all / static_cast<double>(use.sq);
  const double most = std::min(static_cast<double>(kMaxJudgedPairs) / a_row, static_cast<double>(kMaxCountedPairs) / evaluated);
  return sample_rows(use.sq, static_cast<int64_t>(most));
}

void judge(const ir::AttentionProblem& problem, const AttentionUse& use, runtime::ThreadPool& pool, AttentionMeasure& measure) {
  const std::vector<int64_t> rows = rows_to_judge(use, measure.pairs);
  measure.judged_rows = static_cast<int64_t>(rows.size());
  measure.error = largest_error(problem, use, rows, pool);
  measure.bar = accuracy_bar(use);
}

}  // namespace

double Times::fastest() const { return runs.empty() ? 0 : *std::min_element(runs.begin(), runs.end()); }

double Times::median() const {
  if (runs.empty()) return 0;
  std::vector<double> sorted = runs;
  std::sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() - 1) / 2];
}

double AttentionMeasure::efficiency() const {
  return kernel.fastest() > 0 ? dense_kernel.fastest() * pairs.density() / kernel.fastest() : 0;
}

AttentionMeasure measure_attention(Engine& engine, const AttentionUse& use, int repeats, runtime::ThreadPool& pool) {
  const ir::AttentionProblem problem = problem_of(use.kernel.spec(), engine.target());
  AttentionMeasure measure;
  measure.pairs = count_pairs(problem, use, pool);
  judge(problem, use, pool, measure);
  const Attention dense = without_mask(engine, use);
  measure.dense_report = dense.report();
  if (has_openblas(measure.openblas_note)) measure.openblas.emplace();
  const Array other = Array::make({use.batch, use.heads, use.sq, use.v.view.shape[3]}, DType::Float32);
  timed(use, dense, other.view);
  for (int i = 0; i < repeats; ++i) {
    timed(use, use.kernel, other.view);
    measure.kernel.runs.push_back(timed(use, use.kernel, other.view));
    measure.dense_kernel.runs.push_back(timed(use, dense, other.view));
    if (!measure.openblas) continue;
    const DenseRun run = run_dense(problem, use, other.view, pool);
    measure.openblas->runs.push_back(run.milliseconds);
    measure.openblas_note = note_of(run);
  }
  return measure;
}

}  // namespace heddle::engine
