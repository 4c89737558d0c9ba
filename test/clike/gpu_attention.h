// Attention inputs in the dtype of a GPU kernel, the kernel of a formula, and the comparison of its results with the float64 judge.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "dsl/parser.h"
#include "src/codegen/clike/kernel_text.h"
#include "src/codegen/reference/judge.h"
#include "src/ir/rewrite.h"
#include "src/lower/lower_attention.h"
#include "src/lower/schedule_gpu.h"
#include "src/plan/gpu_plan.h"

namespace heddle::test {

inline float from_bits(uint16_t bits, DType dtype) {
  if (dtype == DType::BFloat16) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023, sign = bits >> 15;
  const double magnitude = exponent == 31 ? (fraction ? std::nan("") : INFINITY)
                           : exponent    ? std::ldexp(1024 + fraction, exponent - 25)
                                         : std::ldexp(fraction, -24);
  return static_cast<float>(sign ? -magnitude : magnitude);
}

/// Of small finite numbers; rounds to nearest, ties to even.
inline uint16_t to_bits(float x, DType dtype) {
  if (dtype == DType::BFloat16) {
    const auto bits = std::bit_cast<uint32_t>(x);
    return std::isnan(x) ? 0x7fff : static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  if (std::isnan(x)) return 0x7fff;
  const double magnitude = std::abs(static_cast<double>(x));
  const int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : -14, -14);
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));  // 0 .. 2048
  return static_cast<uint16_t>((std::signbit(x) ? 0x8000u : 0u) + (units < 1024 ? units : (static_cast<uint32_t>(exponent + 15) << 10) + units - 1024));
}

struct GpuShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, sq = 64, sk = 64;
  bool tokens_first = false;  ///< [batch, rows, heads, dim], rows of inputs padded, else [batch, heads, rows, dim].
};

struct GpuCase {
  std::string mask, score;
  DType dtype = DType::Float16;
  int64_t head_dim = 64, value_dim = 64;
  std::string target = "cuda:sm_80";
};

/// A tensor in the kernel's dtype and, for the judge, in float32 with the same strides.
struct GpuTensor {
  std::vector<uint8_t> data;
  std::vector<float> reals;
  int64_t stride[3] = {};
  DType dtype;

  GpuTensor(DType type, int64_t batch, int64_t heads, int64_t rows, int64_t dim, bool tokens_first, int64_t pad) : dtype(type) {
    const int64_t padded = tokens_first ? dim + pad : dim;
    stride[0] = heads * rows * padded, stride[1] = tokens_first ? padded : rows * padded, stride[2] = tokens_first ? heads * padded : padded;
    reals.resize(static_cast<size_t>(batch * heads * rows * padded));
    data.resize(reals.size() * static_cast<size_t>(size_of(type)) + 16, 0xff);
  }
  uint8_t* base() { return data.data() + (16 - reinterpret_cast<uintptr_t>(data.data()) % 16) % 16; }
  size_t bytes() const { return reals.size() * static_cast<size_t>(size_of(dtype)); }
  void set(size_t i, float x) {
    if (dtype == DType::Float32) {
      std::memcpy(base() + 4 * i, &x, 4), reals[i] = x;
    } else {
      const uint16_t bits = to_bits(x, dtype);
      std::memcpy(base() + 2 * i, &bits, 2), reals[i] = from_bits(bits, dtype);
    }
  }
  float get(size_t i) {
    if (dtype == DType::Float32) {
      float x;
      std::memcpy(&x, base() + 4 * i, 4);
      return x;
    }
    uint16_t bits;
    std::memcpy(&bits, base() + 2 * i, 2);
    return from_bits(bits, dtype);
  }
  void fill(std::mt19937& random) {
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < reals.size(); ++i) set(i, normal(random));
  }
};

inline ir::AttentionProblem gpu_problem(const GpuCase& c, const Parameters& parameters = {}) {
  ir::AttentionProblem problem;
  if (!c.score.empty()) problem.score = dsl::parse_formula(c.score, {ir::Type::Real, parameters, "score"});
  if (!c.mask.empty()) problem.mask = ir::guard_divisors(dsl::parse_formula(c.mask, {ir::Type::Bool, parameters, "mask"}), problem.score);
  problem.head_dim = c.head_dim, problem.value_dim = c.value_dim, problem.lse = true;
  problem.target = Target::parse("cpu:avx512");
  return problem;
}

inline ir::GpuProgram gpu_program(const GpuCase& c, const ir::AttentionProblem& problem) {
  plan::AnalysedFacts facts;
  const GpuTarget target = GpuTarget::parse(c.target);
  return lower::schedule_gpu(lower::lower_attention(plan::make_gpu_plan(problem, target, c.dtype, facts)), target, c.dtype);
}

/// Inputs and outputs of one launch.
class GpuData {
 public:
  GpuData(const GpuCase& c, const GpuShape& s, unsigned seed = 1)
      : q(c.dtype, s.batch, s.heads, s.sq, c.head_dim, s.tokens_first, 8), k(c.dtype, s.batch, s.kv_heads, s.sk, c.head_dim, s.tokens_first, 8),
        v(c.dtype, s.batch, s.kv_heads, s.sk, c.value_dim, s.tokens_first, 8), o(c.dtype, s.batch, s.heads, s.sq, c.value_dim, s.tokens_first, 0),
        lse(static_cast<size_t>(s.batch * s.heads * s.sq), std::nanf("")), shape_(s), case_(c) {
    std::mt19937 random(seed);
    for (GpuTensor* input : {&q, &k, &v}) input->fill(random);
    args.batch = s.batch, args.heads = s.heads, args.kv_heads = s.kv_heads, args.sq = s.sq, args.sk = s.sk;
    std::copy_n(q.stride, 3, args.q_stride), std::copy_n(k.stride, 3, args.k_stride);
    std::copy_n(v.stride, 3, args.v_stride), std::copy_n(o.stride, 3, args.o_stride);
    args.scale = 1 / std::sqrt(static_cast<double>(c.head_dim));
  }
  AttentionArgs kernel_args() {
    AttentionArgs a = args;
    a.q = q.base(), a.k = k.base(), a.v = v.base(), a.o = o.base(), a.lse = lse.data();
    return a;
  }
  AttentionArgs judge_args() {
    AttentionArgs a = args;
    a.q = q.reals.data(), a.k = k.reals.data(), a.v = v.reals.data();
    return a;
  }
  /// Largest error of O and LSE; infinite where one is finite, or NaN, and the other not.
  std::pair<double, double> errors(const reference::AttentionResult& expected) {
    double worst_o = 0, worst_lse = 0;
    size_t row = 0;
    for (int64_t b = 0; b < shape_.batch; ++b) {
      for (int64_t h = 0; h < shape_.heads; ++h) {
        for (int64_t r = 0; r < shape_.sq; ++r, ++row) {
          const auto first = static_cast<size_t>(b * o.stride[0] + h * o.stride[1] + r * o.stride[2]);
          for (size_t d = 0; d < static_cast<size_t>(case_.value_dim); ++d) {
            worst_o = std::max(worst_o, error(expected.o[row * static_cast<size_t>(case_.value_dim) + d], o.get(first + d)));
          }
          worst_lse = std::max(worst_lse, error(expected.lse[row], lse[row]));
        }
      }
    }
    return {worst_o, worst_lse};
  }

  GpuTensor q, k, v, o;
  std::vector<float> lse;
  AttentionArgs args;

 private:
  static double error(double expected, double actual) {
    if (expected == actual) return 0;
    const double difference = std::abs(expected - actual);
    return std::isnan(difference) ? INFINITY : difference;
  }
  GpuShape shape_;
  GpuCase case_;
};

}  // namespace heddle::test
