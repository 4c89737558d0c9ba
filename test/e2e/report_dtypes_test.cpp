// Field reports on bfloat16 and float16: forward attention.
#include <gtest/gtest.h>

#include <thread>

#include "test/e2e/half_fixture.h"

namespace heddle::test {
namespace {

bool every(const Pair&) { return true; }
bool causal(const Pair& p) { return p.q >= p.k; }

/// The reports' tolerance: largest absolute error over largest |ref|.
double tolerance(DType dtype) { return dtype == DType::Float16 ? 1e-2 : 2e-2; }

double relative_error(const HalfData& data, const std::vector<double>& expected) {
  double largest = 0;
  for (double value : expected) largest = std::max(largest, std::abs(value));
  return distance(data.output(), expected) / largest;
}

AttentionSpec half_spec(DType dtype, int64_t dim, const Mask& mask = {}) {
  AttentionSpec spec;
  spec.mask = mask, spec.head_dim = dim, spec.dtype = dtype;
  return spec;
}

TEST(FieldReports, R044_HalfPrecisionIsAsGoodAsUnfusedEvaluation) {
  Engine engine(without_disk());
  for (const DType dtype : kHalves) {
    SCOPED_TRACE(to_string(dtype));
    Data wide({1, 16, 16, 240, 240, 128, 128});
    for (std::vector<float>* input : {&wide.q, &wide.k, &wide.v}) {
      for (float& x : *input) x *= 10;
    }
    HalfData data(wide, dtype);
    run(engine.attention(half_spec(dtype, 128)), data);
    const double scale = 1 / std::sqrt(128.0);
    const Expected expected = judge(wide, every, plain, scale);
    EXPECT_LE(distance(data.output(), expected.o), 2 * dense_error(wide, dtype, every, scale, expected));
  }
}

/// Scores that grow by 0.5 a key: every tile raises the maximum.
TEST(FieldReports, R045_GrowingAndFallingScoresAreAlike) {
  constexpr int64_t kKeys = 512, kDim = 16;
  Engine engine(without_disk());
  for (const DType dtype : kHalves) {
    std::vector<std::vector<float>> outputs;
    for (const bool falls : {false, true}) {
      AttentionSpec spec = half_spec(dtype, kDim);
      spec.score = Score::parse(falls ? "s - 0.5 * k" : "s + 0.5 * k");
      Data wide({1, 1, 1, 64, kKeys, kDim, kDim});
      if (falls) {  // the same keys in reverse order
        for (std::vector<float>* rows : {&wide.k, &wide.v}) {
          for (int64_t k = 0; k < kKeys / 2; ++k) std::swap_ranges(rows->begin() + k * kDim, rows->begin() + (k + 1) * kDim, rows->end() - (k + 1) * kDim);
        }
      }
      HalfData data(wide, dtype);
      run(engine.attention(spec), data);
      const Scores scores = [falls](double s, const Pair& p) { return falls ? s - 0.5 * static_cast<double>(p.k) : s + 0.5 * static_cast<double>(p.k); };
      EXPECT_LE(relative_error(data, judge(wide, every, scores, 0.25).o), tolerance(dtype));
      outputs.push_back(data.output());
    }
    for (size_t i = 0; i < outputs[0].size(); ++i) EXPECT_NEAR(outputs[0][i], outputs[1][i], tolerance(dtype));
  }
}

TEST(FieldReports, R011_OddHeadDimsHaveNoStaleColumns) {
  Engine engine(without_disk());
  for (const DType dtype : kHalves) {
    for (const int64_t dim : {40, 72, 104}) {
      SCOPED_TRACE(to_string(dtype) + " " + std::to_string(dim));
      Data wide({1, 8, 8, 64, 64, dim, dim});
      HalfData data(wide, dtype);
      run(engine.attention(half_spec(dtype, dim, Mask::parse("q >= k"))), data);
      const Expected expected = judge(wide, causal, plain, 1 / std::sqrt(static_cast<double>(dim)));
      const std::vector<float> found = data.output();
      for (int64_t column = 0; column < dim; ++column) {
        double worst = 0;
        for (size_t i = static_cast<size_t>(column); i < found.size(); i += static_cast<size_t>(dim)) worst = std::max(worst, std::abs(found[i] - expected.o[i]));
        EXPECT_LE(worst, tolerance(dtype)) << "column " << column;  // false for NaN
      }
    }
  }
}

TEST(FieldReports, R017_WhatDependsOnTheQueryAloneCancelsInHalves) {
  Engine engine(without_disk());
  for (const DType dtype : kHalves) {
    Data wide({1, 1, 1, 64, 64, 16, 16});
    HalfData before(wide, dtype);
    AttentionSpec spec = half_spec(dtype, 16);
    spec.lse = true;
    run(engine.attention(spec), before);
    for (const char* text : {"s + 1", "s - 7", "s + 100 * q"}) {
      spec.score = Score::parse(text);
      HalfData data(wide, dtype);
      run(engine.attention(spec), data);
      const std::vector<float> with = data.output(), without = before.output();
      for (size_t i = 0; i < with.size(); ++i) EXPECT_NEAR(with[i], without[i], tolerance(dtype)) << text;
      const double added = text[2] == '-' ? -7 : text[4] == '1' && text[5] == '0' ? 100 * 63 : 1;
      EXPECT_NEAR(data.lse[63], before.lse[63] + added, 1e-6 * std::max(1.0, std::abs(added)));
    }
  }
}

TEST(FieldReports, R040_Float32BiasesGoWithHalves) {
  constexpr int64_t kLength = 128;
  std::vector<float> bias = normal_values(4 * kLength * kLength, 7);
  Engine engine(without_disk());
  for (const DType dtype : kHalves) {
    AttentionSpec spec = half_spec(dtype, 32);
    spec.score = Score::parse("s + bias[0, h, q, k]", {{"bias", TableOf{DType::Float32}}});
    Data wide({2, 4, 4, kLength, kLength, 32, 32});
    HalfData data(wide, dtype);
    run(engine.attention(spec), data, {.tables = {{"bias", Tensor::dense(bias.data(), {1, 4, kLength, kLength})}}});
    const Scores biased = [&](double s, const Pair& p) { return s + bias[static_cast<size_t>((p.h * kLength + p.q) * kLength + p.k)]; };
    EXPECT_LE(relative_error(data, judge(wide, every, biased, 1 / std::sqrt(32.0)).o), tolerance(dtype));
  }
}

TEST(FieldReports, R068_RunsAreIdenticalToTheLastBit) {
  Engine engine(without_disk());
  Data wide({1, 4, 4, 1024, 1024, 64, 64});
  HalfData first(wide, DType::Float16);
  const Attention attention = engine.attention(half_spec(DType::Float16, 64, Mask::parse("q >= k")));
  run(attention, first);
  HalfData noise(wide, DType::Float16);
  std::thread other([&] {  // load from another thread
    for (int i = 0; i < 10; ++i) run(attention, noise);
  });
  bool same = true;
  for (int i = 0; i < 30; ++i) {
    HalfData again(wide, DType::Float16);
    run(attention, again);
    same = same && again.o == first.o;
  }
  other.join();
  EXPECT_TRUE(same);
}

/// Evoformer: rows of a sequence alignment as batches, a mask of keys a row and a pair bias for all of them.
TEST(FieldReports, R103_AlignmentAttentionWithPairBias) {
  constexpr int64_t kRows = 5, kLength = 37, kHeads = 4;
  std::vector<float> pair = normal_values(kHeads * kLength * kLength, 3);
  std::vector<int32_t> keep(static_cast<size_t>(kRows * kLength), 1);
  for (size_t i = 0; i < keep.size(); i += 3) keep[i] = 0;
  Engine engine(without_disk());
  for (const DType dtype : kHalves) {
    for (const int64_t dim : {8, 16, 32}) {
      AttentionSpec spec = half_spec(dtype, dim, Mask::parse("keep[b, k] == 1", {{"keep", TableOf{DType::Int32}}}));
      spec.score = Score::parse("s + pair[0, h, q, k]", {{"pair", TableOf{DType::Float32}}});
      Data wide({kRows, kHeads, kHeads, kLength, kLength, dim, dim});
      HalfData data(wide, dtype);
      run(engine.attention(spec), data,
          {.tables = {{"keep", Tensor::dense(keep.data(), {kRows, kLength}, DType::Int32)}, {"pair", Tensor::dense(pair.data(), {1, kHeads, kLength, kLength})}}});
      const Allows kept = [&](const Pair& p) { return keep[static_cast<size_t>(p.b * kLength + p.k)] == 1; };
      const Scores biased = [&](double s, const Pair& p) { return s + pair[static_cast<size_t>((p.h * kLength + p.q) * kLength + p.k)]; };
      const Expected expected = judge(wide, kept, biased, 1 / std::sqrt(static_cast<double>(dim)));
      EXPECT_LE(relative_error(data, expected.o), tolerance(dtype));
      for (size_t i = 0; i < data.o.size(); ++i) EXPECT_TRUE((data.o[i] & 0x7fff) != 0 || std::abs(expected.o[i]) < 1e-2) << "a zero at " << i;
    }
  }
}

}  // namespace
}  // namespace heddle::test
