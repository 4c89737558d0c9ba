// The error against the judge, its bar, the dense baseline, and times.
#include "src/engine/attention_measure.h"
#include "src/engine/masked_softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/engine/difference.h"
#include "src/engine/reference_attention.h"
#include "src/engine/row_sample.h"
#include "test/engine/attention_use.h"

namespace heddle::engine {
namespace {

using test::attention_use;
using test::problem;

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> kMasks = {"k <= q", "q + k < Sq - 3 + h && b == 0", "k % 7 == q % 5", "true", "false"};

TEST(Difference, OfNumbersThatNeedNotBeFinite) {
  EXPECT_EQ(difference(3, 1.5), 1.5);
  EXPECT_EQ(difference(kNan, kNan), 0);
  EXPECT_EQ(difference(kInfinity, kInfinity), 0);
  EXPECT_EQ(difference(kInfinity, -kInfinity), kInfinity);
  EXPECT_EQ(difference(1, kNan), kInfinity);
  EXPECT_EQ(difference(kNan, 1), kInfinity);
}

TEST(LargestError, IsRoundingForTheJudgesOwnResult) {
  runtime::ThreadPool pool(2);
  for (const std::string& mask : kMasks) {
    AttentionUse use = attention_use();
    const ir::AttentionProblem one = problem(mask, use, "softcap(s, 2) + 0.125 * (q - k) / Sq");
    test::judge_into(use, one);
    EXPECT_LE(largest_error(one, use, sample_rows(use.sq, use.sq), pool), 1e-6) << mask;
  }
}

TEST(LargestError, SeesOneWrongElementInARowThatIsLookedAt) {
  runtime::ThreadPool pool(2);
  AttentionUse use = attention_use();
  const ir::AttentionProblem causal = problem("k <= q", use);
  test::judge_into(use, causal);
  test::at(use.o, 1, 3, 17, 23) += 0.5f;
  EXPECT_NEAR(largest_error(causal, use, {16, 17}, pool), 0.5, 1e-6);
  EXPECT_LE(largest_error(causal, use, {15, 16, 18}, pool), 1e-6);
  test::at(use.o, 1, 3, 17, 23) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(largest_error(causal, use, {17}, pool), kInfinity);
}

TEST(AccuracyBar, IsThatOfStandardNormalsAndGrowsWithTheOperands) {
  AttentionUse use = attention_use({.head_dim = 16, .value_dim = 16});
  const auto fill = [](const Array& array, float value) {
    test::for_each_element(array.view,
                           [&](int64_t b, int64_t h, int64_t row, int64_t c) { test::at(array, b, h, row, c) = value; });
  };
  for (const Array* array : {&use.q, &use.k, &use.v}) fill(*array, 1);
  EXPECT_NEAR(accuracy_bar(use), 2e-6 * 4, 1e-12);
  fill(use.v, 0.25f);
  EXPECT_NEAR(accuracy_bar(use), 2e-6 * 4, 1e-12);
  fill(use.v, 10);
  EXPECT_NEAR(accuracy_bar(use), 2e-6 * 4 * 10, 1e-12);
  fill(use.q, 3);
  EXPECT_NEAR(accuracy_bar(use), 2e-6 * 4 * 10 * 3, 1e-12);
  test::at(use.v, 0, 0, 0, 0) = std::numeric_limits<float>::infinity();
  EXPECT_NEAR(accuracy_bar(use), 2e-6 * 4 * 10 * 3, 1e-12);
}

TEST(MaskedSoftmax, IsTheDefinitionOverAllowedScores) {
  std::vector<float> scores = test::numbers(64, 9), expected = scores;
  std::vector<uint8_t> allowed(64);
  double top = -kInfinity, sum = 0;
  for (size_t i = 0; i < 61; ++i) {
    allowed[i] = i % 3 != 1;
    scores[i] *= 10;
    expected[i] *= 10;
    if (allowed[i]) top = std::max(top, static_cast<double>(expected[i]));
  }
  scores[1] = 1e30f, scores[4] = std::numeric_limits<float>::quiet_NaN(), scores[63] = kNan;
  const float inverse = masked_softmax(scores.data(), allowed.data(), 64);
  for (size_t i = 0; i < 64; ++i) {
    const double p = allowed[i] ? std::exp(expected[i] - top) : 0;
    sum += p;
    EXPECT_NEAR(scores[i], p, 3e-6 * p) << i;
  }
  EXPECT_NEAR(inverse, 1 / sum, 3e-6 / sum);
}

TEST(MaskedSoftmax, OfNothingIsZero) {
  std::vector<float> scores(32, 5.0f);
  const std::vector<uint8_t> allowed(32, 0);
  EXPECT_EQ(masked_softmax(scores.data(), allowed.data(), 32), 0);
  EXPECT_EQ(scores, std::vector<float>(32, 0.0f));
}

TEST(RunDense, IsTheAttentionItIsComparedWith) {
  runtime::ThreadPool pool(2);
  for (const std::string& mask : kMasks) {
    const AttentionUse use = attention_use({.sq = 300, .sk = 75});
    const ir::AttentionProblem one = problem(mask, use);
    const Array o = Array::make(use.o.view.shape, DType::Float32);
    const DenseRun run = run_dense(one, use, o.view, pool);
    EXPECT_EQ(run.blocks, 2 * 2 * 4);
    EXPECT_EQ(run.measured, run.blocks);
    EXPECT_GT(run.milliseconds, 0);
    AttentionUse judged = use;
    judged.o = o;
    EXPECT_LE(largest_error(one, judged, sample_rows(300, 300), pool), 2 * accuracy_bar(use)) << mask;
  }
}

TEST(RunDense, OfNoQueriesOrKeys) {
  runtime::ThreadPool pool(1);
  const AttentionUse none = attention_use({.sq = 0});
  EXPECT_EQ(run_dense(problem("k <= q", none), none, none.o.view, pool).blocks, 0);
  const AttentionUse blind = attention_use({.sk = 0});
  run_dense(problem("k <= q", blind), blind, blind.o.view, pool);
  EXPECT_EQ(test::at(blind.o, 0, 0, 0, 0), 0);
}

TEST(Times, FastestAndMedian) {
  EXPECT_EQ(Times{}.fastest(), 0);
  EXPECT_EQ(Times{}.median(), 0);
  EXPECT_EQ((Times{{5, 1, 3}}.fastest()), 1);
  EXPECT_EQ((Times{{5, 1, 3}}.median()), 3);
  EXPECT_EQ((Times{{4, 1, 3, 2}}.median()), 2);
}

TEST(Efficiency, IsOneWhenAPairCostsWhatItCostsDensely) {
  AttentionMeasure measure;
  EXPECT_EQ(measure.efficiency(), 0);
  measure.pairs = {.allowed = 25, .all = 100, .rows = 10};
  measure.dense_kernel.runs = {90, 80};
  measure.kernel.runs = {20, 30};
  EXPECT_EQ(measure.efficiency(), 1);
}

}  // namespace
}  // namespace heddle::engine
