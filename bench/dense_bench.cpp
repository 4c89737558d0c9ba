// Dense attention against OpenBLAS sgemm of 2048 x 2048 x 2048 on as many threads, in turn in one run.
//
//   dense_bench [--avx2] [options of Google Benchmark]
//
// `ratio`: floating-point rate of the kernel (4 * pairs * head_dim a head) over that of sgemm. --avx2: the kernel of the AVX2
// target, and OpenBLAS with the core type Haswell, which is its best for the same instructions.
// `speedup` of bfloat16 and float16: time of the kernel for float32 over theirs, on the same operands rounded.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "bench/blas_environment.h"
#include "bench/operands.h"
#include "bench/turns.h"
#include "runtime/thread_pool.h"
#include "src/support/half.h"

namespace {

using bench::Shape;

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

/// Operands rounded to 16 bits.
struct HalfOperands {
  HalfOperands(const bench::Operands& wide, heddle::DType type)
      : dims(wide.dims), dtype(type), q(rounded(wide.q)), k(rounded(wide.k)), v(rounded(wide.v)), o(wide.o.size()) {}
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

void halves_against_float32(benchmark::State& state, heddle::DType dtype, Shape shape, int threads, const std::string& target) {
  heddle::Engine engine(bench::engine_options(threads, target));
  heddle::AttentionSpec spec = bench::spec_of("", shape.head_dim);
  const heddle::Attention wide = engine.attention(spec);
  spec.dtype = dtype;
  const heddle::Attention half = engine.attention(spec);
  bench::Operands operands(shape);
  HalfOperands halves(operands, dtype);
  bench::Turns turns;
  turns.measure(
      state, [&] { halves.run(half); }, [&] { operands.run(wide); });
  turns.count(state, "speedup");
}

void dense_against_sgemm(benchmark::State& state, Shape shape, int threads, const std::string& target) {
  heddle::Engine engine(bench::engine_options(threads, target));
  const heddle::Attention attention = engine.attention(bench::spec_of("", shape.head_dim));
  bench::Operands operands(shape);
  Sgemm sgemm(threads);
  bench::Turns turns;
  turns.measure(
      state, [&] { operands.run(attention); }, [&] { sgemm.run(); });
  const double length = static_cast<double>(shape.length);
  const double flops = 4.0 * static_cast<double>(shape.heads * shape.head_dim) * length * length;
  turns.count(state, "ratio", flops / sgemm.flops());
  state.counters["GFLOPs"] = flops / turns.first() * 1e-9;
  state.counters["sgemm_GFLOPs"] = sgemm.flops() / turns.second() * 1e-9;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<char*> all(arguments, arguments + count + 1);
  const bool avx2 = bench::take_option(count, arguments, "--avx2");
  bench::settle_blas_environment(all.data(), avx2 ? "Haswell" : "");
  const std::string target = avx2 ? "cpu:avx2" : heddle::Target::host().to_string();
  benchmark::Initialize(&count, arguments);
  bench::say_baseline(heddle::Target::parse(target));
  for (const int threads : bench::thread_counts()) {
    for (const int64_t head_dim : {64, 128}) {
      const Shape shape{12, 2048, head_dim};
      bench::add("dense/D:" + std::to_string(head_dim) + "/S:2048/H:12/threads:" + std::to_string(threads),
                 [=](benchmark::State& state) { dense_against_sgemm(state, shape, threads, target); });
      for (const heddle::DType dtype : {heddle::DType::BFloat16, heddle::DType::Float16}) {
        bench::add(heddle::to_string(dtype) + "/D:" + std::to_string(head_dim) + "/S:2048/H:12/threads:" + std::to_string(threads),
                   [=](benchmark::State& state) { halves_against_float32(state, dtype, shape, threads, target); });
      }
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
