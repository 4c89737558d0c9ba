// Lesson 10: the probabilities of a sparse attention, as compressed rows.
//
// A running softmax never has the probabilities in memory. When they are wanted - to look at, to sum over heads, to prune - a kernel
// can keep them, without the masked pairs: a row holds those of its allowed keys, one behind the other. Steps:
//   (1) compile with `probabilities`; the layout says how wide rows are and which key each slot belongs to,
//   (2) run: O is what any attention gives,
//   (3) read a row; where does its weight lie?
//   (4) judge: each row sums to 1, and the dense form times V is O.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "heddle/engine.h"

namespace {

constexpr int64_t kHeads = 2, kRows = 300, kDim = 32;

std::vector<float> normal_values(unsigned seed, int64_t count) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

heddle::Tensor view(std::vector<float>& values, int64_t columns) {
  return heddle::Tensor::dense(values.data(), {1, kHeads, kRows, columns});
}

}  // namespace

int main() {
  // (1) Sinks and a window: two ranges of keys a row.
  heddle::Engine engine;
  const heddle::Mask mask = heddle::Mask::parse("k <= q && (q - k < 32 || k < 4)");
  const heddle::Attention attention = engine.attention({.mask = mask, .head_dim = kDim, .probabilities = true});
  const heddle::AcsrLayout layout = attention.acsr_layout({.heads = kHeads, .kv_heads = kHeads, .sq = kRows, .sk = kRows});
  std::printf("%s: %lld slots a row instead of %lld keys\n", mask.text().c_str(), static_cast<long long>(layout.width()),
              static_cast<long long>(kRows));

  // (2) The caller owns the rows.
  std::vector<float> q = normal_values(1, kHeads * kRows * kDim), k = normal_values(2, kHeads * kRows * kDim), v = normal_values(3, kHeads * kRows * kDim);
  std::vector<float> o(q.size()), rows(static_cast<size_t>(kHeads * kRows * layout.width()));
  const heddle::Tensor probabilities = view(rows, layout.width());
  heddle::LaunchOptions options;
  options.probabilities = &probabilities;
  attention.run(view(q, kDim), view(k, kDim), view(v, kDim), view(o, kDim), nullptr, options);

  // (3) Slot i of a row belongs to keys(row)[i].
  const std::vector<int64_t> keys = layout.keys(200);
  const float* row = rows.data() + 200 * layout.width();
  const auto top = std::max_element(row, row + keys.size()) - row;
  std::printf("query 200 of head 0 has %zu keys, %lld to %lld and sinks; most weight, %.3f, is on key %lld\n", keys.size(),
              static_cast<long long>(*std::max_element(keys.begin(), keys.end()) - 31), static_cast<long long>(*std::max_element(keys.begin(), keys.end())),
              static_cast<double>(row[top]), static_cast<long long>(keys[static_cast<size_t>(top)]));

  // (4) The dense form: [1, heads, queries, keys], 0 at masked pairs.
  std::vector<float> dense(static_cast<size_t>(kHeads * kRows * kRows));
  layout.to_dense(probabilities, view(dense, kRows));
  double sums = 0, products = 0;
  for (int64_t i = 0; i < kHeads * kRows; ++i) {
    double sum = 0, first = 0;
    for (int64_t j = 0; j < kRows; ++j) {
      const double p = static_cast<double>(dense[static_cast<size_t>(i * kRows + j)]);
      sum += p;
      first += p * static_cast<double>(v[static_cast<size_t>((i / kRows * kRows + j) * kDim)]);
    }
    sums = std::max(sums, std::abs(sum - 1));
    products = std::max(products, std::abs(first - static_cast<double>(o[static_cast<size_t>(i * kDim)])));
  }
  std::printf("sums of rows differ from 1 by at most %.2g, P V from O by %.2g\n", sums, products);
  return sums <= 1e-5 && products <= 1e-5 ? 0 : 1;
}
