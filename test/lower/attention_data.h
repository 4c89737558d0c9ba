// Seeded attention inputs with padded strides, and comparison of results, for tests of lowering.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dsl/parser.h"
#include "heddle/kernel_abi.h"
#include "src/codegen/reference/attention_result.h"
#include "src/ir/attention_problem.h"
#include "src/ir/rewrite.h"

namespace heddle::test {

struct Shape {
  int64_t batch = 1, heads = 1, kv_heads = 1, sq = 1, sk = 1, head_dim = 8, value_dim = 8;
};

/// Owns q, k, v in [batch, rows, heads, dim + pad] order, so that heads interleave and rows are not dense.
class AttentionData {
 public:
  explicit AttentionData(const Shape& shape, unsigned seed = 1) : shape_(shape) {
    std::mt19937 random(seed);
    q_ = fill(random, shape.batch * shape.sq * shape.heads * (shape.head_dim + kPad));
    k_ = fill(random, shape.batch * shape.sk * shape.kv_heads * (shape.head_dim + kPad));
    v_ = fill(random, shape.batch * shape.sk * shape.kv_heads * (shape.value_dim + kPad));
    args_.q = q_.data(), args_.k = k_.data(), args_.v = v_.data();
    args_.batch = shape.batch, args_.heads = shape.heads, args_.kv_heads = shape.kv_heads, args_.sq = shape.sq, args_.sk = shape.sk;
    strides(args_.q_stride, shape.sq, shape.heads, shape.head_dim + kPad);
    strides(args_.k_stride, shape.sk, shape.kv_heads, shape.head_dim + kPad);
    strides(args_.v_stride, shape.sk, shape.kv_heads, shape.value_dim + kPad);
    args_.scale = 1 / std::sqrt(static_cast<double>(shape.head_dim));
  }
  AttentionData(const AttentionData&) = delete;

  const AttentionArgs& args() const { return args_; }
  void set_scale(double scale) { args_.scale = scale; }
  void set_parameters(std::vector<int64_t> ints, std::vector<double> reals = {}) {
    ints_ = std::move(ints), reals_ = std::move(reals);
    args_.int_params = ints_.data(), args_.real_params = reals_.data();
  }
  float* k_row(int64_t b, int64_t h, int64_t key) { return k_.data() + offset(args_.k_stride, b, h, key); }
  float* v_row(int64_t b, int64_t h, int64_t key) { return v_.data() + offset(args_.v_stride, b, h, key); }
  const Shape& shape() const { return shape_; }

 private:
  static constexpr int64_t kPad = 3;
  static std::vector<float> fill(std::mt19937& random, int64_t count) {
    std::normal_distribution<float> normal;
    std::vector<float> data(static_cast<size_t>(std::max<int64_t>(count, 1)));
    for (float& value : data) value = normal(random);
    return data;
  }
  static void strides(int64_t (&stride)[3], int64_t rows, int64_t heads, int64_t dim) {
    stride[0] = rows * heads * dim, stride[1] = dim, stride[2] = heads * dim;
  }
  static int64_t offset(const int64_t (&stride)[3], int64_t b, int64_t h, int64_t row) {
    return b * stride[0] + h * stride[1] + row * stride[2];
  }

  Shape shape_;
  std::vector<float> q_, k_, v_;
  std::vector<int64_t> ints_;
  std::vector<double> reals_;
  AttentionArgs args_;
};

inline Parameters dynamic(const std::vector<std::string>& ints, const std::vector<std::string>& reals = {}) {
  Parameters parameters;
  for (const std::string& name : ints) parameters[name] = Dynamic{false};
  for (const std::string& name : reals) parameters[name] = Dynamic{true};
  return parameters;
}

/// A problem from texts; empty texts mean every pair and the plain score. Divisors are guarded as the engine does.
inline ir::AttentionProblem problem(const std::string& mask, const std::string& score, const Shape& shape,
                                    const Parameters& parameters = {}) {
  ir::AttentionProblem made;
  if (!score.empty()) made.score = dsl::parse_formula(score, {ir::Type::Real, parameters, "score"});
  if (!mask.empty()) made.mask = dsl::parse_formula(mask, {ir::Type::Bool, parameters, "mask"});
  if (made.mask) made.mask = ir::guard_divisors(made.mask, made.score);
  made.head_dim = shape.head_dim, made.value_dim = shape.value_dim;
  made.lse = true;
  made.target = Target::parse("cpu:avx512");
  return made;
}

/// The first difference beyond `tolerance`, or empty. Infinities must be equal. `nan_allowed`: where `expected` is finite, `actual`
/// may be NaN, but never finite and wrong.
inline std::string difference(const std::vector<double>& expected, const std::vector<double>& actual, double tolerance,
                              bool nan_allowed = false) {
  if (expected.size() != actual.size()) return "sizes differ";
  for (size_t i = 0; i < expected.size(); ++i) {
    const double e = expected[i], a = actual[i];
    const bool same = e == a || (std::isnan(e) && std::isnan(a)) || std::abs(e - a) <= tolerance || (nan_allowed && std::isnan(a));
    if (!same) return "element " + std::to_string(i) + ": expected " + std::to_string(e) + ", got " + std::to_string(a);
  }
  return {};
}

}  // namespace heddle::test
