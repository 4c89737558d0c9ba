// Lesson 2: sparse attention against dense attention.
//
// A causal window of 256 keys allows a small part of all pairs. Skipping the rest should save about that part of the time.
// Steps:
//   (1) make inputs,
//   (2) compile the window, and the mask that allows every pair,
//   (3) check some rows of the result against a plain loop in double precision,
//   (4) time both and compare the time saved with the pairs saved: the sparsity efficiency.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "heddle/engine.h"

namespace {

constexpr int64_t kHeads = 4, kRows = 2048, kDim = 64, kWindow = 256;

std::vector<float> normal_values(unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(kHeads * kRows * kDim);
  for (float& value : values) value = normal(generator);
  return values;
}

heddle::Tensor view(std::vector<float>& values) { return heddle::Tensor::dense(values.data(), {1, kHeads, kRows, kDim}); }

double dot(const float* a, const float* b) {
  double sum = 0;
  for (int64_t d = 0; d < kDim; ++d) sum += double{a[d]} * b[d];
  return sum;
}

/// One output row of one head of the window, straight from the definition.
std::vector<double> plain_row(const float* q, const float* k, const float* v, int64_t row) {
  std::vector<double> out(kDim, 0.0);
  double total = 0;
  for (int64_t key = std::max<int64_t>(0, row - kWindow + 1); key <= row; ++key) {
    const double weight = std::exp(dot(q + row * kDim, k + key * kDim) / std::sqrt(double{kDim}));
    total += weight;
    for (int64_t d = 0; d < kDim; ++d) out[d] += weight * v[key * kDim + d];
  }
  for (double& value : out) value /= total;
  return out;
}

/// Largest difference between the plain loop and `o` over some rows of every head.
double largest_error(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v,
                     const std::vector<float>& o) {
  double worst = 0;
  for (int64_t head = 0; head < kHeads; ++head) {
    const int64_t base = head * kRows * kDim;
    for (int64_t row = 0; row < kRows; row += 97) {
      const std::vector<double> wanted = plain_row(&q[base], &k[base], &v[base], row);
      for (int64_t d = 0; d < kDim; ++d) worst = std::max(worst, std::abs(wanted[d] - o[base + row * kDim + d]));
    }
  }
  return worst;
}

/// Median milliseconds of seven calls.
template <typename F>
double median_milliseconds(F&& call) {
  std::vector<double> times;
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

int main() {
  // (1) Query, key and value of four heads; the kernel reads and writes them in place.
  std::vector<float> q = normal_values(1), k = normal_values(2), v = normal_values(3), o(q.size());

  // (2) `w` is a constant of the formula, so the compiler knows it. An empty Mask allows every pair.
  heddle::Engine engine;
  const heddle::Mask window = heddle::Mask::parse("k <= q && q - k < w", {{"w", kWindow}});
  const heddle::Attention sparse = engine.attention({.mask = window, .head_dim = kDim});
  const heddle::Attention dense = engine.attention({.head_dim = kDim});

  // (3) The bar of the project for float32: 2e-6 * sqrt(head dim).
  sparse.run(view(q), view(k), view(v), view(o));
  const double error = largest_error(q, k, v, o);
  std::printf("largest error %.2g (allowed %.2g)\n", error, 2e-6 * std::sqrt(double{kDim}));
  if (!(error <= 2e-6 * std::sqrt(double{kDim}))) return 1;

  // (4) Efficiency 1 would mean that every skipped pair is saved time.
  const double sparse_time = median_milliseconds([&] { sparse.run(view(q), view(k), view(v), view(o)); });
  const double dense_time = median_milliseconds([&] { dense.run(view(q), view(k), view(v), view(o)); });
  const double pairs = kWindow * (kWindow + 1) / 2.0 + double{kRows - kWindow} * kWindow,
               share = pairs / (double{kRows} * kRows);
  std::printf("dense %.2f ms, window %.2f ms: %.1f times faster for %.1f%% of the pairs, efficiency %.2f\n", dense_time,
              sparse_time, dense_time / sparse_time, 100 * share, dense_time / sparse_time * share);
  return 0;
}
