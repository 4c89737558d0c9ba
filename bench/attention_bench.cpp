// Attention kernels against OpenBLAS sgemm and against our own dense kernel, each pair interleaved in one run.
//
// `ratio`: floating-point rate of the kernel (4 * pairs * head_dim per head) over the rate of sgemm 2048 x 2048 x 2048 on as many
// threads. `efficiency`: (dense time * allowed share of the pairs) / sparse time, at the same lengths. Both from best times, so that
// other work on the machine, which only ever slows a run down, weighs as little as it can; `*_median` are from median times.
// `speedup` of bfloat16 and float16: float32 time over theirs, of the same dense attention.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include "heddle/engine.h"
#include "runtime/blas.h"
#include "runtime/thread_pool.h"
#include "src/engine/masked_softmax.h"
#include "src/support/half.h"

namespace {

struct Shape {
  int64_t heads, length, head_dim;
};

/// Random operands of one attention in [1, heads, length, head_dim].
struct Operands {
  explicit Operands(const Shape& shape) : dims{1, shape.heads, shape.length, shape.head_dim} {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (std::vector<float>* data : {&q, &k, &v, &o}) {
      data->resize(static_cast<size_t>(shape.heads * shape.length * shape.head_dim));
      for (float& x : *data) x = normal(random);
    }
  }
  heddle::Tensor view(std::vector<float>& data) { return heddle::Tensor::dense(data.data(), dims, heddle::DType::Float32); }
  void run(const heddle::Attention& attention) { attention.run(view(q), view(k), view(v), view(o)); }

  std::vector<int64_t> dims;
  std::vector<float> q, k, v, o;
};

/// The same values, rounded to 16 bits.
struct HalfOperands {
  HalfOperands(const Operands& wide, heddle::DType type) : dims(wide.dims), dtype(type), q(rounded(wide.q)), k(rounded(wide.k)), v(rounded(wide.v)), o(wide.o.size()) {}
  std::vector<uint16_t> rounded(const std::vector<float>& values) const {
    std::vector<uint16_t> bits(values.size());
    for (size_t i = 0; i < values.size(); ++i) heddle::support::set_element(dtype, bits.data(), static_cast<int64_t>(i), values[i]);
    return bits;
  }
  heddle::Tensor view(std::vector<uint16_t>& data) { return heddle::Tensor::dense(data.data(), dims, dtype); }
  void run(const heddle::Attention& attention) { attention.run(view(q), view(k), view(v), view(o)); }

  std::vector<int64_t> dims;
  heddle::DType dtype;
  std::vector<uint16_t> q, k, v, o;
};

/// sgemm of square matrices: one whole product a thread, each by a single call, the way OpenBLAS is fastest.
struct Sgemm {
  static constexpr int64_t kSize = 2048;
  explicit Sgemm(int threads) : pool(threads), a(kSize * kSize, 0.5f), b(kSize * kSize, 0.25f) {
    c.resize(static_cast<size_t>(threads), std::vector<float>(kSize * kSize));
  }
  void run() {
    pool.run([&](int thread) {
      heddle::runtime::Gemm<float> product;
      product.m = product.n = product.k = product.lda = product.ldb = product.ldc = kSize;
      product.a = a.data();
      product.b = b.data();
      product.c = c[static_cast<size_t>(thread)].data();
      heddle::runtime::Blas::open().gemm(product);
    });
  }
  double flops() const { return 2.0 * kSize * kSize * kSize * pool.threads(); }

  heddle::runtime::ThreadPool pool;
  std::vector<float> a, b;
  std::vector<std::vector<float>> c;
};

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Times of two works, taken in turn.
struct Pair {
  static constexpr size_t kLeastSamples = 10;
  std::vector<double> first, second;

  /// A second work that has taken more time than the first sits rounds out: it may be much longer.
  void measure(benchmark::State& state, const std::function<void()>& a, const std::function<void()>& b) {
    a();
    b();
    double ahead = 0;
    for (auto _ : state) {
      first.push_back(seconds(a));
      ahead += first.back();
      state.SetIterationTime(first.back());
      if (second.size() >= kLeastSamples && ahead < 0) continue;
      second.push_back(seconds(b));
      ahead -= second.back();
    }
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
  }
  double best() const { return second.front() / first.front(); }
  double median() const { return second[second.size() / 2] / first[first.size() / 2]; }
};

heddle::EngineOptions engine_options(int threads) {
  heddle::EngineOptions options;
  options.threads = threads;
  options.disk_cache = false;
  return options;
}

heddle::AttentionSpec spec_of(const std::string& mask, int64_t head_dim) {
  heddle::AttentionSpec spec;
  if (!mask.empty()) spec.mask = heddle::Mask::parse(mask);
  spec.head_dim = head_dim;
  return spec;
}

double pairs_of(const std::string& mask, int64_t length, const std::function<bool(int64_t, int64_t)>& allowed) {
  if (mask.empty()) return static_cast<double>(length) * static_cast<double>(length);
  double pairs = 0;
  for (int64_t q = 0; q < length; ++q) {
    for (int64_t k = 0; k < length; ++k) pairs += allowed(q, k);
  }
  return pairs;
}

void dense_against_sgemm(benchmark::State& state, Shape shape, int threads) {
  heddle::Engine engine(engine_options(threads));
  const heddle::Attention attention = engine.attention(spec_of("", shape.head_dim));
  Operands operands(shape);
  Sgemm sgemm(threads);
  Pair times;
  times.measure(state, [&] { operands.run(attention); }, [&] { sgemm.run(); });
  const double length = static_cast<double>(shape.length);
  const double flops = 4.0 * static_cast<double>(shape.heads * shape.head_dim) * length * length;
  state.counters["ratio"] = times.best() * flops / sgemm.flops();
  state.counters["ratio_median"] = times.median() * flops / sgemm.flops();
  state.counters["GFLOPs"] = flops / times.first.front() * 1e-9;
  state.counters["sgemm_GFLOPs"] = sgemm.flops() / times.second.front() * 1e-9;
}

/// The dense kernel on 16 bits against the one on float32.
void halves_against_float32(benchmark::State& state, heddle::DType dtype, Shape shape, int threads) {
  heddle::Engine engine(engine_options(threads));
  heddle::AttentionSpec spec = spec_of("", shape.head_dim);
  const heddle::Attention wide = engine.attention(spec);
  spec.dtype = dtype;
  const heddle::Attention half = engine.attention(spec);
  Operands operands(shape);
  HalfOperands halves(operands, dtype);
  Pair times;
  times.measure(state, [&] { halves.run(half); }, [&] { operands.run(wide); });
  state.counters["speedup"] = times.best();
  state.counters["speedup_median"] = times.median();
}

struct MaskCase {
  std::string name, formula;
  std::function<bool(int64_t, int64_t)> allowed;
};

void sparse_against_dense(benchmark::State& state, const MaskCase& mask, Shape shape, int threads) {
  heddle::Engine engine(engine_options(threads));
  const heddle::Attention sparse = engine.attention(spec_of(mask.formula, shape.head_dim));
  const heddle::Attention dense = engine.attention(spec_of("", shape.head_dim));
  Operands operands(shape);
  Pair times;
  times.measure(state, [&] { operands.run(sparse); }, [&] { operands.run(dense); });
  const double length = static_cast<double>(shape.length);
  const double share = pairs_of(mask.formula, shape.length, mask.allowed) / (length * length);
  state.counters["share"] = share;
  state.counters["efficiency"] = times.best() * share;
  state.counters["efficiency_median"] = times.median() * share;
}

/// Row blocks of all heads by OpenBLAS: scores by one product, softmax of the window's rows (vector code), and a product with V. The mask is known to
/// be a window, so the softmax costs what it must; everything outside of it is multiplied as zeros, as plain matrix products do.
struct DenseProducts {
  static constexpr int64_t kRows = 256;
  DenseProducts(Operands& data, int64_t window, int threads)
      : data_(data), window_(window), pool_(threads), scores_(static_cast<size_t>(threads), std::vector<float>(static_cast<size_t>(kRows * data.dims[2]))) {}

  void run() {
    const int64_t blocks = data_.dims[1] * (data_.dims[2] / kRows);
    pool_.run([&](int thread) {
      for (int64_t i = thread; i < blocks; i += pool_.threads()) block(i / (data_.dims[2] / kRows), i % (data_.dims[2] / kRows), scores_[static_cast<size_t>(thread)].data());
    });
  }

 private:
  void block(int64_t head, int64_t qb, float* s) {
    const int64_t length = data_.dims[2], dim = data_.dims[3], keys = head * length * dim, rows = keys + qb * kRows * dim;
    const heddle::runtime::Blas& blas = heddle::runtime::Blas::open();
    blas.gemm(heddle::runtime::Gemm<float>{kRows, length, dim, data_.q.data() + rows, data_.k.data() + keys, s, dim, dim, length, false, true,
                                           1 / std::sqrt(static_cast<float>(dim)), 0});
    for (int64_t r = 0; r < kRows; ++r) softmax(s + r * length, qb * kRows + r, length);
    blas.gemm(heddle::runtime::Gemm<float>{kRows, dim, length, s, data_.v.data() + keys, data_.o.data() + rows, length, dim, dim, false, false, 1, 0});
  }
  void softmax(float* row, int64_t q, int64_t length) const {
    constexpr int64_t kLanes = heddle::engine::kSoftmaxLanes;
    const int64_t first = std::max<int64_t>(0, q - window_ + 1) / kLanes * kLanes, end = std::min(length, (q + kLanes) / kLanes * kLanes);
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

void three_kernels_against_products(benchmark::State& state, int64_t window, Shape shape, int threads) {
  heddle::Engine engine(engine_options(threads));
  heddle::AttentionSpec spec = spec_of("k <= q && q - k < " + std::to_string(window), shape.head_dim);
  const heddle::Attention fused = engine.attention(spec);
  spec.probabilities = true;
  const heddle::Attention attention = engine.attention(spec);
  Operands operands(shape);
  const int64_t width = attention.acsr_layout({1, shape.heads, shape.heads, shape.length, shape.length, {}}).width();
  std::vector<float> rows(static_cast<size_t>(shape.heads * shape.length * width));
  const heddle::Tensor probabilities = heddle::Tensor::dense(rows.data(), {1, shape.heads, shape.length, width});
  heddle::LaunchOptions options;
  options.probabilities = &probabilities;
  DenseProducts products(operands, window, threads);
  Pair times;
  const auto run = [&] { attention.run(operands.view(operands.q), operands.view(operands.k), operands.view(operands.v), operands.view(operands.o), nullptr, options); };
  times.measure(state, run, [&] { products.run(); });
  state.counters["speedup"] = times.best();
  state.counters["speedup_median"] = times.median();
  double fused_best = 1e9;
  for (int i = 0; i < 5; ++i) fused_best = std::min(fused_best, seconds([&] { operands.run(fused); }));
  state.counters["fused_share"] = fused_best / times.first.front();
}

void add(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMillisecond)->MinTime(2);
}

void add_all(int threads) {
  const std::string suffix = "/threads:" + std::to_string(threads);
  for (int64_t head_dim : {64, 128}) {
    const Shape shape{12, 2048, head_dim};
    add("dense/D:" + std::to_string(head_dim) + "/S:2048/H:12" + suffix,
        [=](benchmark::State& state) { dense_against_sgemm(state, shape, threads); });
  }
  const std::vector<MaskCase> masks = {
      {"causal", "k <= q", [](int64_t q, int64_t k) { return k <= q; }},
      {"window256", "k <= q && q - k < 256", [](int64_t q, int64_t k) { return k <= q && q - k < 256; }},
      {"longformer512", "abs(q - k) <= 256 || k < 64 || q < 64",
       [](int64_t q, int64_t k) { return std::abs(q - k) <= 256 || k < 64 || q < 64; }},
      {"strided32", "k <= q && (q - k < 32 || (q - k) % 32 == 0)",
       [](int64_t q, int64_t k) { return k <= q && (q - k < 32 || (q - k) % 32 == 0); }},
  };
  for (const MaskCase& mask : masks) {
    add(mask.name + "/D:64/S:8192/H:2" + suffix,
        [=](benchmark::State& state) { sparse_against_dense(state, mask, {2, 8192, 64}, threads); });
  }
}

void add_three_kernels(int threads) {
  for (int64_t length : {1024, 4096}) {
    add("probabilities/window:128/D:64/S:" + std::to_string(length) + "/H:8/threads:" + std::to_string(threads),
        [=](benchmark::State& state) { three_kernels_against_products(state, 128, {8, length, 64}, threads); });
  }
}

void add_halves(int threads) {
  for (const heddle::DType dtype : {heddle::DType::BFloat16, heddle::DType::Float16}) {
    for (int64_t head_dim : {64, 128}) {
      add(heddle::to_string(dtype) + "/D:" + std::to_string(head_dim) + "/S:2048/H:12/threads:" + std::to_string(threads),
          [=](benchmark::State& state) { halves_against_float32(state, dtype, {12, 2048, head_dim}, threads); });
    }
  }
}

/// OpenBLAS reads its environment when it is opened: both variables halve it on some machines, so the process starts anew without them.
void clear_blas_environment(char** arguments) {
  if (!std::getenv("OPENBLAS_CORETYPE") && !std::getenv("OPENBLAS_L2_SIZE")) return;
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  execv("/proc/self/exe", arguments);
}

}  // namespace

int main(int argc, char** argv) {
  clear_blas_environment(argv);
  benchmark::Initialize(&argc, argv);
  const heddle::runtime::BlasInfo& blas = heddle::runtime::Blas::open().info();
  benchmark::AddCustomContext("openblas", blas.version + ", core type " + blas.core);
  benchmark::AddCustomContext("target", heddle::Target::host().to_string());
  add_all(1);
  const int all = heddle::Engine(engine_options(0)).threads();
  if (all > 1) add_all(all);
  add_three_kernels(all);
  add_halves(1);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
