// Attentions on bfloat16 and float16 through the public API, and the error that a dense computation of the same type has.
#pragma once
#include <cstdint>
#include <vector>

#include "src/support/half.h"
#include "test/e2e/attention_fixture.h"

namespace heddle::test {

inline constexpr DType kHalves[] = {DType::BFloat16, DType::Float16};

inline float rounded_to(DType dtype, float value) {
  uint16_t bits = 0;
  support::set_element(dtype, &bits, 0, value);
  return support::element(dtype, &bits, 0);
}

/// Rounds the inputs of `wide` to `dtype` and holds them in 16 bits; outputs are full of NaN.
struct HalfData {
  HalfData(Data& wide, DType type) : shape(wide.shape), dtype(type), q(narrow(wide.q)), k(narrow(wide.k)), v(narrow(wide.v)), lse(wide.lse.size()) {
    o.assign(wide.o.size(), bits_of(std::numeric_limits<float>::quiet_NaN()));
    std::fill(lse.begin(), lse.end(), std::numeric_limits<float>::quiet_NaN());
  }

  Tensor view(std::vector<uint16_t>& data, int64_t heads, int64_t rows, int64_t dim) {
    return Tensor::dense(data.data(), {shape.batch, heads, rows, dim}, dtype);
  }
  Tensor q_view() { return view(q, shape.heads, shape.sq, shape.dim); }
  Tensor k_view() { return view(k, shape.kv_heads, shape.sk, shape.dim); }
  Tensor v_view() { return view(v, shape.kv_heads, shape.sk, shape.value_dim); }
  Tensor o_view() { return view(o, shape.heads, shape.sq, shape.value_dim); }
  Tensor lse_view() { return Tensor::dense(lse.data(), {shape.batch, shape.heads, shape.sq}); }
  std::vector<float> output() const {
    std::vector<float> values;
    for (size_t i = 0; i < o.size(); ++i) values.push_back(support::element(dtype, o.data(), static_cast<int64_t>(i)));
    return values;
  }
  uint16_t bits_of(float value) const {
    uint16_t bits = 0;
    support::set_element(dtype, &bits, 0, value);
    return bits;
  }

  Shape shape;
  DType dtype;
  std::vector<uint16_t> q, k, v, o;
  std::vector<float> lse;

 private:
  std::vector<uint16_t> narrow(std::vector<float>& values) const {
    std::vector<uint16_t> bits;
    for (float& value : values) {
      bits.push_back(bits_of(value));
      value = support::element(dtype, &bits.back(), 0);
    }
    return bits;
  }
};

inline void run(const Attention& attention, HalfData& data, const LaunchOptions& options = {}) {
  const Tensor lse = data.lse_view();
  attention.run(data.q_view(), data.k_view(), data.v_view(), data.o_view(), attention.spec().lse ? &lse : nullptr, options);
}

/// One row of softmax(Q K^T) V in `dtype`: float32 scores and softmax, probabilities and the result rounded.
inline std::vector<float> dense_row(const Data& data, DType dtype, int64_t b, int64_t h, int64_t q, const Allows& allows, double scale) {
  const Shape& s = data.shape;
  const int64_t kv = b * s.kv_heads + h / (s.heads / s.kv_heads);
  const float* query = data.q.data() + ((b * s.heads + h) * s.sq + q) * s.dim;
  std::vector<float> scores, row(static_cast<size_t>(s.value_dim), 0.0f);
  std::vector<int64_t> keys;
  for (int64_t k = 0; k < s.sk; ++k) {
    if (!allows({b, h, q, k, s.sq, s.sk})) continue;
    float dot = 0;
    for (int64_t d = 0; d < s.dim; ++d) dot += query[d] * data.k[static_cast<size_t>((kv * s.sk + k) * s.dim + d)];
    scores.push_back(static_cast<float>(scale) * dot), keys.push_back(k);
  }
  float top = -std::numeric_limits<float>::infinity(), sum = 0;
  for (float score : scores) top = std::max(top, score);
  for (float& score : scores) score = std::exp(score - top), sum += score;
  for (size_t i = 0; i < keys.size(); ++i) {
    const float p = rounded_to(dtype, scores[i] / sum);
    for (int64_t d = 0; d < s.value_dim; ++d) row[static_cast<size_t>(d)] += p * data.v[static_cast<size_t>((kv * s.sk + keys[i]) * s.value_dim + d)];
  }
  for (float& value : row) value = rounded_to(dtype, value);
  return row;
}

/// Largest error of the dense computation.
inline double dense_error(const Data& data, DType dtype, const Allows& allows, double scale, const Expected& expected) {
  const Shape& s = data.shape;
  std::vector<float> o;
  for (int64_t row = 0; row < s.batch * s.heads * s.sq; ++row) {
    const std::vector<float> values = dense_row(data, dtype, row / s.sq / s.heads, row / s.sq % s.heads, row % s.sq, allows, scale);
    o.insert(o.end(), values.begin(), values.end());
  }
  return distance(o, expected.o);
}

/// Runs once and holds O to 1.5 times the error of the dense computation, and LSE to what float32 scores of rounded inputs give.
inline void expect_right_in_halves(Engine& engine, AttentionSpec spec, const Shape& shape, const Allows& allows, DType dtype, uint32_t seed = 1,
                                   const LaunchOptions& options = {}) {
  spec.head_dim = shape.dim, spec.value_dim = shape.value_dim, spec.dtype = dtype, spec.lse = true;
  Data wide(shape, seed);
  HalfData data(wide, dtype);
  run(engine.attention(spec), data, options);
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(shape.dim)));
  const Expected expected = judge(wide, allows, plain, scale);
  EXPECT_LE(distance(data.output(), expected.o), 1.5 * dense_error(wide, dtype, allows, scale, expected));
  EXPECT_LE(distance(data.lse, expected.lse), 1e-5);
}

}  // namespace heddle::test
