// Attention that keeps its probabilities as compressed rows, against OpenBLAS products and a softmax, in turn in one run.
//
// `speedup`: time of the products over time of the kernel. `fused_share`: time of the fused kernel, which keeps nothing, over
// it.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/blas_environment.h"
#include "bench/operands.h"
#include "bench/turns.h"
#include "runtime/thread_pool.h"
#include "src/engine/masked_softmax.h"

namespace {

using bench::Operands;
using bench::Shape;

/// Row blocks of all heads by OpenBLAS: scores by one product, softmax of the window's rows (vector code), and a product with
/// V. The mask is known to be a window, so the softmax costs what it must; everything outside of it is multiplied as zeros, as
/// plain products do.
class DenseProducts {
 public:
  static constexpr int64_t kRows = 256;
  DenseProducts(Operands& data, int64_t window, int threads) : data_(data), window_(window), pool_(threads) {
    scores_.resize(static_cast<size_t>(threads), std::vector<float>(static_cast<size_t>(kRows * data.dims[2])));
  }
  void run() {
    const int64_t row_blocks = data_.dims[2] / kRows, blocks = data_.dims[1] * row_blocks;
    pool_.run([&](int thread) {
      float* scores = scores_[static_cast<size_t>(thread)].data();
      for (int64_t i = thread; i < blocks; i += pool_.threads()) block(i / row_blocks, i % row_blocks, scores);
    });
  }

 private:
  void block(int64_t head, int64_t qb, float* s) {
    const int64_t length = data_.dims[2], dim = data_.dims[3], keys = head * length * dim, rows = keys + qb * kRows * dim;
    const heddle::runtime::Blas& blas = heddle::runtime::Blas::open();
    const float scale = 1 / std::sqrt(static_cast<float>(dim));
    blas.gemm(heddle::runtime::Gemm<float>{kRows, length, dim, data_.q.data() + rows, data_.k.data() + keys, s, dim, dim,
                                           length, false, true, scale, 0});
    for (int64_t r = 0; r < kRows; ++r) softmax(s + r * length, qb * kRows + r, length);
    blas.gemm(heddle::runtime::Gemm<float>{kRows, dim, length, s, data_.v.data() + keys, data_.o.data() + rows, length, dim,
                                           dim, false, false, 1, 0});
  }
  void softmax(float* row, int64_t q, int64_t length) const {
    constexpr int64_t kLanes = heddle::engine::kSoftmaxLanes;
    const int64_t first = std::max<int64_t>(0, q - window_ + 1) / kLanes * kLanes;
    const int64_t end = std::min(length, (q + kLanes) / kLanes * kLanes);
    thread_local std::vector<uint8_t> allowed;
    allowed.resize(static_cast<size_t>(end - first));
    for (int64_t k = first; k < end; ++k) allowed[static_cast<size_t>(k - first)] = k <= q && q - k < window_;
    const float inverse = heddle::engine::masked_softmax(row + first, allowed.data(), end - first);
    for (int64_t k = first; k < end; ++k) row[k] *= inverse;
    std::fill(row, row + first, 0.0f);
    std::fill(row + end, row + length, 0.0f);
  }

  Operands& data_;
  int64_t window_;
  heddle::runtime::ThreadPool pool_;
  std::vector<std::vector<float>> scores_;
};

/// Time of the kernel that keeps nothing.
double fused_seconds(heddle::Engine& engine, const heddle::AttentionSpec& spec, Operands& operands) {
  const heddle::Attention fused = engine.attention(spec);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) best = std::min(best, bench::seconds([&] { operands.run(fused); }));
  return best;
}

void three_kernels_against_products(benchmark::State& state, int64_t window, Shape shape, int threads) {
  heddle::Engine engine(bench::engine_options(threads));
  heddle::AttentionSpec spec = bench::spec_of("k <= q && q - k < " + std::to_string(window), shape.head_dim);
  Operands operands(shape);
  const double fused = fused_seconds(engine, spec, operands);
  spec.probabilities = true;
  const heddle::Attention attention = engine.attention(spec);
  const int64_t width = attention.acsr_layout({1, shape.heads, shape.heads, shape.length, shape.length, {}}).width();
  std::vector<float> rows(static_cast<size_t>(shape.heads * shape.length * width));
  const heddle::Tensor probabilities = heddle::Tensor::dense(rows.data(), {1, shape.heads, shape.length, width});
  heddle::LaunchOptions options;
  options.probabilities = &probabilities;
  DenseProducts products(operands, window, threads);
  bench::Turns turns;
  turns.measure(
      state, [&] { operands.run(attention, options); }, [&] { products.run(); });
  turns.count(state, "speedup");
  state.counters["fused_share"] = fused / turns.first();
}

}  // namespace

int main(int count, char** arguments) {
  bench::settle_blas_environment(arguments, "");
  benchmark::Initialize(&count, arguments);
  bench::say_baseline(heddle::Target::host());
  const int threads = bench::thread_counts().back();
  for (const int64_t length : {1024, 4096}) {
    bench::add("probabilities/window:128/D:64/S:" + std::to_string(length) + "/H:8/threads:" + std::to_string(threads),
               [=](benchmark::State& state) {
                 three_kernels_against_products(state, 128, {8, length, 64}, threads);
               });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
