// Lesson 5: packed documents.
//
// Texts of different lengths are packed into one sequence, and no token may attend another text's. Which text a token belongs to is a
// table: its contents are bound to the compiled kernel, and new contents compile nothing. Steps:
//   (1) a mask that reads a table, compiled once,
//   (2) bind several packings, one after the other: what the bind found, and that nothing was compiled,
//   (3) judge: each document equals the same document attended on its own by a causal mask without tables.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "heddle/engine.h"

namespace {

constexpr int64_t kTokens = 4096, kHeads = 4, kDim = 64;

std::vector<float> normal_values(unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(kHeads * kTokens * kDim);
  for (float& value : values) value = normal(generator);
  return values;
}

/// Random document lengths that fill the sequence.
std::vector<int64_t> pack(unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int64_t> length(20, 700);
  std::vector<int64_t> lengths;
  for (int64_t left = kTokens; left > 0; left -= lengths.back()) lengths.push_back(std::min(left, length(generator)));
  return lengths;
}

std::vector<int32_t> ids_of(const std::vector<int64_t>& lengths) {
  std::vector<int32_t> ids;
  for (size_t document = 0; document < lengths.size(); ++document) {
    ids.insert(ids.end(), static_cast<size_t>(lengths[document]), static_cast<int32_t>(document));
  }
  return ids;
}

/// Rows [first, first + rows) of all heads: a view, nothing is copied.
heddle::Tensor rows_of(std::vector<float>& values, int64_t first, int64_t rows) {
  return {values.data() + first * kDim, heddle::DType::Float32, {1, kHeads, rows, kDim}, {kHeads * kTokens * kDim, kTokens * kDim, kDim, 1}};
}

}  // namespace

int main() {
  heddle::Engine engine;
  // (1) An IntTable has a name and an element type; its contents come later.
  const heddle::IntTable doc("doc");
  const heddle::Mask own = heddle::mask([&](heddle::Index q, heddle::Index k) { return doc[q] == doc[k] && k <= q; });
  const heddle::Attention packed = engine.attention({.mask = own, .head_dim = kDim});
  const heddle::Attention alone = engine.attention({.mask = heddle::Mask::causal(heddle::Mask::Align::TopLeft), .head_dim = kDim});
  const int64_t compiled = engine.compilations();

  std::vector<float> q = normal_values(1), k = normal_values(2), v = normal_values(3), together(q.size()), apart(q.size());
  double worst = 0;
  for (unsigned batch = 0; batch < 3; ++batch) {
    // (2) Bind the ids at the sizes of the launch. The binding views `ids`, so they must live as long.
    const std::vector<int64_t> lengths = pack(batch);
    std::vector<int32_t> ids = ids_of(lengths);
    const heddle::Tensor table = heddle::Tensor::dense(ids.data(), {kTokens}, heddle::DType::Int32);
    const heddle::Binding binding =
        packed.bind({.tables = {{"doc", table}}, .heads = kHeads, .kv_heads = kHeads, .sq = kTokens, .sk = kTokens});
    std::printf("batch %u: %2zu documents, bound in %.2f ms: %lld full and %lld partial tiles\n", batch, lengths.size(), binding.milliseconds(),
                static_cast<long long>(binding.full_tiles()), static_cast<long long>(binding.partial_tiles()));
    heddle::LaunchOptions options;
    options.binding = &binding;
    packed.run(rows_of(q, 0, kTokens), rows_of(k, 0, kTokens), rows_of(v, 0, kTokens), rows_of(together, 0, kTokens), nullptr, options);
    // (3) Every document on its own.
    int64_t first = 0;
    for (const int64_t rows : lengths) {
      alone.run(rows_of(q, first, rows), rows_of(k, first, rows), rows_of(v, first, rows), rows_of(apart, first, rows));
      first += rows;
    }
    for (size_t i = 0; i < together.size(); ++i) worst = std::max(worst, std::abs(double{together[i]} - apart[i]));
  }
  std::printf("packed against alone: largest difference %.2g; kernels compiled while binding: %lld\n", worst,
              static_cast<long long>(engine.compilations() - compiled));
  return worst <= 2e-6 * std::sqrt(double{kDim}) && engine.compilations() == compiled ? 0 : 1;
}
