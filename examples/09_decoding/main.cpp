// Lesson 9: decoding with a cache that grows.
//
// A model that writes text asks one query at a time, of all keys so far. The keys stay where they are and their number grows,
// so neither may cost a compilation or a copy. Steps:
//   (1) compile once, for one query; the mask counts from the end of the keys,
//   (2) keep keys and values in pages of 16, taken from a pool in any order, as a server does,
//   (3) take 512 steps: each appends a key and attends to the last 128; nothing is compiled,
//   (4) judge: some steps in double precision from the definition.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "heddle/engine.h"

namespace {

constexpr int64_t kHeads = 8, kKeyHeads = 2, kDim = 32, kSteps = 512, kWindow = 128, kPage = 16, kPages = kSteps / kPage;

std::vector<float> normal_values(unsigned seed, int64_t count) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

/// Pages of a pool: row j of a sequence lies in row j % kPage of page table[j / kPage].
struct Cache {
  Cache() : k(kPages * kKeyHeads * kPage * kDim), v(k.size()), table(kPages) {
    std::iota(table.begin(), table.end(), 0);
    std::shuffle(table.begin(), table.end(), std::mt19937(5));
  }
  size_t place(int64_t head, int64_t row) const {
    return static_cast<size_t>(((table[static_cast<size_t>(row / kPage)] * kKeyHeads + head) * kPage + row % kPage) * kDim);
  }
  void append(const float* key, const float* value) {
    for (int64_t head = 0; head < kKeyHeads; ++head) {
      std::copy_n(key + head * kDim, kDim, k.begin() + static_cast<int64_t>(place(head, length)));
      std::copy_n(value + head * kDim, kDim, v.begin() + static_cast<int64_t>(place(head, length)));
    }
    ++length;
  }
  heddle::Tensor view(std::vector<float>& data) { return heddle::Tensor::dense(data.data(), {kPages, kKeyHeads, kPage, kDim}); }
  heddle::PagedKeys paged() {
    return {heddle::Tensor::dense(table.data(), {1, kPages}, heddle::DType::Int32),
            heddle::Tensor::dense(&length, {1}, heddle::DType::Int64)};
  }

  std::vector<float> k, v;
  std::vector<int32_t> table;
  int64_t length = 0;
};

double dot(const float* a, const float* b) {
  double sum = 0;
  for (int64_t d = 0; d < kDim; ++d) sum += double{a[d]} * double{b[d]};
  return sum;
}

/// Largest error of one head's output, from the definition.
double error_of(const Cache& cache, const float* q, const float* o, int64_t head) {
  std::vector<double> sum(kDim, 0.0);
  double total = 0;
  for (int64_t row = std::max<int64_t>(0, cache.length - kWindow); row < cache.length; ++row) {
    const size_t place = cache.place(head / (kHeads / kKeyHeads), row);
    const double weight = std::exp(dot(q, cache.k.data() + place) / std::sqrt(double{kDim}));
    total += weight;
    for (size_t d = 0; d < kDim; ++d) sum[d] += weight * double{cache.v[place + d]};
  }
  double worst = 0;
  for (size_t d = 0; d < kDim; ++d) worst = std::max(worst, std::abs(sum[d] / total - double{o[d]}));
  return worst;
}

}  // namespace

int main() {
  // (1) `queries = 1` asks for the kernel of few queries. Sq and Sk are those of a launch: q is 0, and the newest key is Sk
  // - 1.
  heddle::Engine engine;
  const heddle::Mask last = heddle::Mask::parse("q + (Sk - Sq) - k < w", {{"w", kWindow}});
  const heddle::Attention attention = engine.attention({.mask = last, .head_dim = kDim, .queries = 1});
  const int64_t compiled = engine.compilations();

  // (2) What the model would give at each step.
  Cache cache;
  std::vector<float> queries = normal_values(1, kSteps * kHeads * kDim), o(kHeads * kDim);
  const std::vector<float> keys = normal_values(2, kSteps * kKeyHeads * kDim),
                           values = normal_values(3, kSteps * kKeyHeads * kDim);
  const std::vector<int64_t> shape = {1, kHeads, 1, kDim};

  // (3) and (4)
  double worst = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    cache.append(keys.data() + step * kKeyHeads * kDim, values.data() + step * kKeyHeads * kDim);
    const heddle::PagedKeys paged = cache.paged();
    heddle::LaunchOptions options;
    options.paged = &paged;
    float* q = queries.data() + step * kHeads * kDim;
    attention.run(heddle::Tensor::dense(q, shape), cache.view(cache.k), cache.view(cache.v),
                  heddle::Tensor::dense(o.data(), shape), nullptr, options);
    if (step % 37 != 0 && step != kSteps - 1) continue;
    for (int64_t head = 0; head < kHeads; ++head) {
      worst = std::max(worst, error_of(cache, q + head * kDim, o.data() + head * kDim, head));
    }
  }
  const int64_t later = engine.compilations() - compiled;
  std::printf("%s: %lld steps, %lld kernels compiled after the first launch was possible; largest error %.2g\n",
              last.text().c_str(), static_cast<long long>(kSteps), static_cast<long long>(later), worst);
  return later == 0 && worst <= 1e-5 ? 0 : 1;
}
