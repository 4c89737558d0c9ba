#include "src/engine/attention_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/blas.h"
#include "src/engine/pair_facts.h"
#include "src/engine/problem.h"
#include "src/engine/reference_attention.h"
#include "src/engine/row_sample.h"
#include "src/engine/use_launch.h"
#include "src/ir/rewrite.h"

namespace heddle::engine {
namespace {

using ir::Expr;

Attention without_mask(Engine& engine, const AttentionUse& use) {
  AttentionSpec spec = use.kernel.spec();
  spec.mask = Mask();
  return engine.attention(spec);
}

/// The first query rows of a use, as many as kMaxDensePairs allows; all of them where the score reads tables, which fit the whole launch only.
AttentionUse first_rows(AttentionUse use) {
  if (!ir::tables(use.kernel.spec().score.node()).empty()) return use;
  const int64_t pairs_a_row = std::max<int64_t>(1, use.batch * use.heads * use.sk);
  use.sq = std::min(use.sq, std::max<int64_t>(1, kMaxDensePairs / pairs_a_row));
  use.q.view.shape[2] = use.sq;
  return use;
}

/// Our kernel without the mask on first_rows().
class DenseKernel {
 public:
  DenseKernel(Engine& engine, const AttentionUse& use) : kernel_(without_mask(engine, use)), part_(first_rows(use)), launch_(part_, kernel_) {
    if (part_.sq > 0) factor_ = static_cast<double>(use.sq) / static_cast<double>(part_.sq);
  }
  DenseKernel(const DenseKernel&) = delete;
  DenseKernel& operator=(const DenseKernel&) = delete;
  const KernelReport& report() const { return kernel_.report(); }
  int64_t rows() const { return part_.sq; }
  /// Milliseconds of all rows. Writes the first rows of `o`.
  double run(Tensor o) const {
    o.shape[2] = part_.sq;
    return factor_ * launch_.run(o);
  }

 private:
  Attention kernel_;
  AttentionUse part_;
  UseLaunch launch_;
  double factor_ = 1;
};

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

/// By the mask's rows where that is quick, else by its facts, else an estimate.
PairCount pairs_of(const ir::AttentionProblem& problem, const AttentionUse& use, runtime::ThreadPool& pool) {
  if (counts_all_rows(problem, use)) return count_pairs(problem, use, pool);
  if (problem.mask && !ir::tables(problem.mask).empty()) return count_pairs(problem, use, pool);
  const std::optional<PairCount> exact = pairs_by_facts(problem, use, pool.threads());
  return exact ? *exact : count_pairs(problem, use, pool);
}

/// Query rows whose allowed pairs stay within kMaxJudgedPairs, and whose mask evaluations within kMaxCountedPairs.
std::vector<int64_t> rows_to_judge(const ir::AttentionProblem& problem, const AttentionUse& use, const PairCount& pairs) {
  if (pairs.all == 0) return sample_rows(use.sq, 1);
  const double a_row = std::max(1.0, pairs.allowed / static_cast<double>(use.sq));
  const int64_t evaluated = use.sk * distinct_masks(MaskRows(problem, use), use);
  return sample_rows(
      use.sq, std::min(static_cast<int64_t>(static_cast<double>(kMaxJudgedPairs) / a_row), kMaxCountedPairs / evaluated));
}

void judge(const ir::AttentionProblem& problem, const AttentionUse& use, runtime::ThreadPool& pool, AttentionMeasure& measure) {
  const std::vector<int64_t> rows = rows_to_judge(problem, use, measure.pairs);
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
  ir::AttentionProblem problem = with_values(problem_of(use.kernel.spec(), engine.target()), use);
  problem.dtype = DType::Float32;
  const AttentionUse wide = with_float32_inputs(use);
  const DenseKernel dense(engine, use);
  const UseLaunch launch(use, use.kernel);
  AttentionMeasure measure;
  measure.dense_report = dense.report();
  measure.dense_rows = dense.rows();
  measure.pairs = pairs_of(problem, use, pool);
  judge(problem, wide, pool, measure);
  if (has_openblas(measure.openblas_note)) measure.openblas.emplace();
  const std::vector<int64_t> shape = {use.batch, use.heads, use.sq, use.v.view.shape[3]};
  const Array other = Array::make(shape, use.o.view.dtype), products = Array::make(shape, DType::Float32);
  dense.run(other.view);
  for (int i = 0; i < repeats; ++i) {
    launch.run(other.view);
    measure.kernel.runs.push_back(launch.run(other.view));
    measure.dense_kernel.runs.push_back(dense.run(other.view));
    if (!measure.openblas) continue;
    const DenseRun run = run_dense(problem, wide, products.view, pool);
    measure.openblas->runs.push_back(run.milliseconds);
    measure.openblas_note = note_of(run);
  }
  return measure;
}

}  // namespace heddle::engine
