#include "src/engine/dense_attention.h"

#include <algorithm>
#include <vector>

#include "runtime/blas.h"
#include "src/engine/mask_rows.h"
#include "src/engine/masked_softmax.h"
#include "src/engine/row_sample.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

constexpr int64_t kBlockRows = 256;

/// One thread's share of the row blocks.
class DenseBlocks {
 public:
  DenseBlocks(const ir::AttentionProblem& problem, const AttentionUse& use, const Tensor& o)
      : use_(use),
        o_(o),
        mask_(problem, use),
        keys_(std::max<int64_t>(1, (use.sk + kSoftmaxLanes - 1) / kSoftmaxLanes) * kSoftmaxLanes) {
    allowed_.resize(kBlockRows * keys_);
    scores_.resize(kBlockRows * keys_);
  }

  /// All heads of query rows [256 * block, 256 * block + 256). Returns the time without that of the mask.
  double run(int64_t block) {
    const int64_t first = block * kBlockRows, rows = std::min(kBlockRows, use_.sq - first);
    double milliseconds = 0;
    for (int64_t head = 0; head < use_.batch * use_.heads; ++head) {
      if (head == 0 || !mask_.shared()) read_mask(head, first, rows);
      const support::Timer timer;
      one_head(head, first, rows);
      milliseconds += timer.milliseconds();
    }
    return milliseconds;
  }

 private:
  void read_mask(int64_t head, int64_t first, int64_t rows) {
    for (int64_t i = 0; i < rows; ++i) mask_.row(head / use_.heads, head % use_.heads, first + i, &allowed_[i * keys_]);
  }

  const float* at(const Tensor& view, int64_t batch, int64_t head, int64_t row) const {
    return static_cast<const float*>(view.data) + batch * view.strides[0] + head * view.strides[1] + row * view.strides[2];
  }

  void one_head(int64_t index, int64_t first, int64_t rows) {
    const runtime::Blas& blas = runtime::Blas::open();
    const int64_t b = index / use_.heads, h = index % use_.heads, kv = h / (use_.heads / use_.kv_heads);
    const Tensor &q = use_.q.view, &k = use_.k.view, &v = use_.v.view;
    blas.gemm({.m = rows,
               .n = use_.sk,
               .k = q.shape[3],
               .a = at(q, b, h, first),
               .b = at(k, b, kv, 0),
               .c = scores_.data(),
               .lda = q.strides[2],
               .ldb = k.strides[2],
               .ldc = keys_,
               .transpose_b = true,
               .alpha = static_cast<float>(use_.scale)});
    float inverse[kBlockRows];
    for (int64_t i = 0; i < rows; ++i) inverse[i] = masked_softmax(&scores_[i * keys_], &allowed_[i * keys_], keys_);
    float* out = const_cast<float*>(at(o_, b, h, first));
    const int64_t width = v.shape[3];
    blas.gemm({.m = rows,
               .n = width,
               .k = use_.sk,
               .a = scores_.data(),
               .b = at(v, b, kv, 0),
               .c = out,
               .lda = keys_,
               .ldb = v.strides[2],
               .ldc = o_.strides[2]});
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t d = 0; d < width; ++d) out[i * o_.strides[2] + d] *= inverse[i];
    }
  }

  const AttentionUse& use_;
  const Tensor& o_;
  MaskRows mask_;
  int64_t keys_;  ///< Columns of a row of scores: sk rounded up to whole vectors, at least one.
  std::vector<uint8_t> allowed_;
  std::vector<float> scores_;
};

/// Row blocks that run, so that no more than kMaxDensePairs pairs do.
std::vector<int64_t> blocks_to_run(const AttentionUse& use) {
  const int64_t blocks = (use.sq + kBlockRows - 1) / kBlockRows;
  const int64_t pairs = std::max<int64_t>(1, use.batch * use.heads * kBlockRows * use.sk);
  return sample_rows(blocks, kMaxDensePairs / pairs);
}

}  // namespace

DenseRun run_dense(const ir::AttentionProblem& problem, const AttentionUse& use, const Tensor& o, runtime::ThreadPool& pool) {
  runtime::Blas::open();
  const std::vector<int64_t> chosen = blocks_to_run(use);
  std::vector<double> times(static_cast<size_t>(pool.threads()), 0);
  pool.run([&](int thread) {
    DenseBlocks mine(problem, use, o);
    for (size_t i = thread; i < chosen.size(); i += pool.threads()) times[thread] += mine.run(chosen[i]);
  });
  const int64_t heads = use.batch * use.heads, blocks = (use.sq + kBlockRows - 1) / kBlockRows;
  DenseRun run{.milliseconds = *std::max_element(times.begin(), times.end()),
               .blocks = blocks * heads,
               .measured = static_cast<int64_t>(chosen.size()) * heads};
  if (run.measured > 0) run.milliseconds *= static_cast<double>(run.blocks) / static_cast<double>(run.measured);
  return run;
}

}  // namespace heddle::engine
