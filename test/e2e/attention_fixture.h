// Runs attentions through the public API and compares them with softmax in float64 over predicates written in plain C++.
// predicates.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "heddle/engine.h"

namespace heddle::test {

struct Shape {
  int64_t batch = 1, heads = 2, kv_heads = 1, sq = 64, sk = 64, dim = 64, value_dim = 64;
};

inline std::vector<float> normal_values(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

/// Dense inputs N(0, 1), and outputs full of NaN so that whatever a kernel does not write shows.
struct Data {
  explicit Data(const Shape& s, uint32_t seed = 1)
      : shape(s),
        q(normal_values(s.batch * s.heads * s.sq * s.dim, seed)),
        k(normal_values(s.batch * s.kv_heads * s.sk * s.dim, seed + 1)),
        v(normal_values(s.batch * s.kv_heads * s.sk * s.value_dim, seed + 2)),
        o(static_cast<size_t>(s.batch * s.heads * s.sq * s.value_dim), std::numeric_limits<float>::quiet_NaN()),
        lse(static_cast<size_t>(s.batch * s.heads * s.sq), std::numeric_limits<float>::quiet_NaN()) {}

  Tensor q_view() { return Tensor::dense(q.data(), {shape.batch, shape.heads, shape.sq, shape.dim}); }
  Tensor k_view() { return Tensor::dense(k.data(), {shape.batch, shape.kv_heads, shape.sk, shape.dim}); }
  Tensor v_view() { return Tensor::dense(v.data(), {shape.batch, shape.kv_heads, shape.sk, shape.value_dim}); }
  Tensor o_view() { return Tensor::dense(o.data(), {shape.batch, shape.heads, shape.sq, shape.value_dim}); }
  Tensor lse_view() { return Tensor::dense(lse.data(), {shape.batch, shape.heads, shape.sq}); }

  Shape shape;
  std::vector<float> q, k, v, o, lse;
};

inline void run(const Attention& attention, Data& data, const LaunchOptions& options = {}) {
  const Tensor lse = data.lse_view();
  attention.run(data.q_view(), data.k_view(), data.v_view(), data.o_view(), attention.spec().lse ? &lse : nullptr, options);
}

/// A pair of query and key within its batch and head, and the lengths.
struct Pair {
  int64_t b, h, q, k, sq, sk;
};
using Allows = std::function<bool(const Pair&)>;
using Scores = std::function<double(double s, const Pair&)>;

inline double plain(double s, const Pair&) { return s; }

inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

struct Expected {
  std::vector<double> o, lse;
};

/// One row of O and its LSE.
inline double judge_row(const Data& data, int64_t b, int64_t h, int64_t q, const Allows& allows, const Scores& scores,
                        double scale, double* o) {
  const Shape& s = data.shape;
  const int64_t kv = b * s.kv_heads + h / (s.heads / s.kv_heads);
  const float* query = data.q.data() + ((b * s.heads + h) * s.sq + q) * s.dim;
  std::vector<double> row(static_cast<size_t>(s.sk), -std::numeric_limits<double>::infinity());
  for (int64_t k = 0; k < s.sk; ++k) {
    const Pair pair{b, h, q, k, s.sq, s.sk};
    if (!allows(pair)) continue;
    const float* key = data.k.data() + (kv * s.sk + k) * s.dim;
    double dot = 0;
    for (int64_t d = 0; d < s.dim; ++d) dot += static_cast<double>(query[d]) * key[d];
    row[static_cast<size_t>(k)] = scores(scale * dot, pair);
  }
  const double top = row.empty() ? -std::numeric_limits<double>::infinity() : *std::max_element(row.begin(), row.end());
  if (std::isinf(top)) return top;
  double sum = 0;
  for (int64_t k = 0; k < s.sk; ++k) {
    const double weight = std::exp(row[static_cast<size_t>(k)] - top);
    if (weight == 0) continue;
    sum += weight;
    for (int64_t d = 0; d < s.value_dim; ++d) o[d] += weight * data.v[static_cast<size_t>((kv * s.sk + k) * s.value_dim + d)];
  }
  for (int64_t d = 0; d < s.value_dim; ++d) o[d] /= sum;
  return top + std::log(sum);
}

inline Expected judge(const Data& data, const Allows& allows, const Scores& scores, double scale) {
  const Shape& s = data.shape;
  Expected expected{std::vector<double>(data.o.size(), 0.0), std::vector<double>(data.lse.size(), 0.0)};
  for (int64_t row = 0; row < s.batch * s.heads * s.sq; ++row) {
    const int64_t head = row / s.sq;
    expected.lse[static_cast<size_t>(row)] = judge_row(data, head / s.heads, head % s.heads, row % s.sq, allows, scores, scale,
                                                       expected.o.data() + row * s.value_dim);
  }
  return expected;
}

/// Largest difference; infinite where one is NaN or the infinities differ.
inline double distance(const std::vector<float>& found, const std::vector<double>& expected) {
  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    const double error = std::abs(found[i] - expected[i]);
    worst = std::isfinite(error) ? std::max(worst, error) : std::numeric_limits<double>::infinity();
  }
  return worst;
}

/// Compiles for the shape's dims, runs once and compares O (bar of docs/semantics.md) and LSE.
inline void expect_right(Engine& engine, AttentionSpec spec, const Shape& shape, const Allows& allows,
                         const Scores& scores = plain, const LaunchOptions& options = {}) {
  spec.head_dim = shape.dim, spec.value_dim = shape.value_dim, spec.lse = true;
  Data data(shape);
  run(engine.attention(spec), data, options);
  const double root = std::sqrt(static_cast<double>(shape.dim));
  const Expected expected = judge(data, allows, scores, options.scale.value_or(1 / root));
  EXPECT_LE(distance(data.o, expected.o), 2e-6 * root);
  EXPECT_LE(distance(data.lse, expected.lse), 1e-5);
}

inline EngineOptions without_disk(int threads = 2) {
  EngineOptions options;
  options.threads = threads;
  options.disk_cache = false;
  return options;
}

inline AttentionSpec masked(const Mask& mask, int64_t dim = 64) {
  AttentionSpec spec;
  spec.mask = mask;
  spec.head_dim = dim;
  return spec;
}

}  // namespace heddle::test
