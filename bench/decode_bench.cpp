// Decoding, one query over a long cache, against a plain read of the same keys and values by as many threads, in turn in one
// run.
//
// `share`: time of the read over time of the launch, both best; `share_median` of medians. The read sums the words of K and of
// V.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bench/operands.h"
#include "bench/turns.h"
#include "runtime/thread_pool.h"

namespace {

constexpr int64_t kHeads = 32, kKeyHeads = 8;

struct Case {
  int64_t keys, head_dim;
  std::string mask;
};

/// One query of 32 heads, and the keys and values of 8.
struct Cache {
  explicit Cache(const Case& c) : keys{1, kKeyHeads, c.keys, c.head_dim}, queries{1, kHeads, 1, c.head_dim} {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    q.resize(static_cast<size_t>(kHeads * c.head_dim)), o.resize(q.size());
    for (float& x : q) x = normal(random);
    std::vector<float> pattern(1 << 16);
    for (float& x : pattern) x = normal(random);
    for (std::vector<float>* data : {&k, &v}) {
      data->resize(static_cast<size_t>(kKeyHeads * c.keys * c.head_dim));
      for (size_t i = 0; i < data->size(); ++i) (*data)[i] = pattern[i % pattern.size()];
    }
  }
  heddle::Tensor view(std::vector<float>& data, const std::vector<int64_t>& shape) {
    return heddle::Tensor::dense(data.data(), shape);
  }
  void run(const heddle::Attention& attention) {
    attention.run(view(q, queries), view(k, keys), view(v, keys), view(o, queries));
  }
  double bytes() const { return static_cast<double>(2 * k.size() * sizeof(float)); }

  std::vector<int64_t> keys, queries;
  std::vector<float> q, k, v, o;
};

using Words = uint64_t __attribute__((vector_size(64)));

/// The sum of the words of an array as fast as memory gives them: four streams, whose pages the processor prefetches side by
/// side, are half as fast again as one.
__attribute__((target_clones("default", "avx2", "avx512f"))) uint64_t sum_words(const float* data, size_t count) {
  constexpr size_t kStreams = 4, kFloats = sizeof(Words) / sizeof(float);
  Words sums[kStreams] = {};
  const size_t share = count / kStreams;
  for (size_t i = 0; i + kFloats <= share; i += kFloats) {
    for (size_t j = 0; j < kStreams; ++j) {
      Words words;
      std::memcpy(&words, data + j * share + i, sizeof words);
      sums[j] += words;
    }
  }
  const Words all = sums[0] + sums[1] + sums[2] + sums[3];
  uint64_t total = 0;
  for (size_t i = 0; i < sizeof(Words) / sizeof(uint64_t); ++i) total += all[i];
  return total;
}

void read_all(heddle::runtime::ThreadPool& pool, const Cache& cache) {
  pool.run([&](int thread) {
    const size_t share = cache.k.size() / static_cast<size_t>(pool.threads()), first = share * static_cast<size_t>(thread);
    benchmark::DoNotOptimize(sum_words(cache.k.data() + first, share) + sum_words(cache.v.data() + first, share));
  });
}

void decode_against_read(benchmark::State& state, const Case& c, int threads) {
  heddle::Engine engine(bench::engine_options(threads));
  heddle::AttentionSpec spec = bench::spec_of(c.mask, c.head_dim);
  spec.queries = 1;
  const heddle::Attention attention = engine.attention(spec);
  heddle::runtime::ThreadPool pool(threads);
  Cache cache(c);
  bench::Turns turns;
  turns.measure(
      state, [&] { cache.run(attention); }, [&] { read_all(pool, cache); });
  turns.count(state, "share");
  state.counters["GBs"] = cache.bytes() / turns.first() * 1e-9;
  state.counters["read_GBs"] = cache.bytes() / turns.second() * 1e-9;
}

void add(const std::string& name, const Case& c, int threads) {
  const std::string sizes = "/D:" + std::to_string(c.head_dim) + "/Sk:" + std::to_string(c.keys) + "/H:32_8";
  bench::add(name + sizes + "/threads:" + std::to_string(threads),
             [=](benchmark::State& state) { decode_against_read(state, c, threads); });
}

}  // namespace

int main(int count, char** arguments) {
  for (const int t : bench::thread_counts()) {
    add("decode", {32768, 128, ""}, t);
    add("decode", {32768, 64, ""}, t);
    add("decode_aligned", {32768, 128, "k <= q + (Sk - Sq)"}, t);
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
