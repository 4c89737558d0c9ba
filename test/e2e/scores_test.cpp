// Score formulas and parameters that are given at launch, against the same formulas in plain C++.
#include <gtest/gtest.h>

#include <string>

#include "test/e2e/attention_fixture.h"

namespace heddle::test {
namespace {

struct ScoreCase {
  std::string name, text;
  Score built;
  Scores scores;
};

void PrintTo(const ScoreCase& one, std::ostream* out) { *out << one.text; }

class ScoreFormulas : public testing::TestWithParam<ScoreCase> {};

TEST_P(ScoreFormulas, RightByTextAndByBuilder) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse("k <= q"));
  spec.score = Score::parse(GetParam().text);
  const Shape shape{.batch = 1, .heads = 4, .kv_heads = 2, .sq = 70, .sk = 70};
  expect_right(
      engine, spec, shape, [](const Pair& p) { return p.k <= p.q; }, GetParam().scores);
  spec.score = GetParam().built;
  expect_right(
      engine, spec, shape, [](const Pair& p) { return p.k <= p.q; }, GetParam().scores);
  EXPECT_EQ(engine.compilations(), 1);
}

std::vector<ScoreCase> cases() {
  using I = Index;
  using R = Real;
  return {
      {"Plain", "s", Score(), plain},
      {"Softcap", "softcap(s, 5)", score([](R s) { return softcap(s, 5.0); }),
       [](double s, const Pair&) { return 5 * std::tanh(s / 5); }},
      {"AlibiByAFormulaOfHeads", "s - exp(-(h + 1) * 2 * log(2.0)) * (q - k)",
       score([](R s, I h, I q, I k) { return s - exp(Real(-(h + 1) * 2) * log(2.0)) * (q - k); }),
       [](double s, const Pair& p) {
         return s - std::exp2(-2.0 * static_cast<double>(p.h + 1)) * static_cast<double>(p.q - p.k);
       }},
      {"Distance", "s - 0.1 * abs(q - k)", score([](R s, I q, I k) { return s - 0.1 * Real(abs(q - k)); }),
       [](double s, const Pair& p) { return s - 0.1 * std::abs(static_cast<double>(p.q - p.k)); }},
      {"OtherFunctions", "sigmoid(s) * 3 + sqrt(k + 1.0) * 0.1 + max(s, -1)",
       score([](R s, I, I k) { return sigmoid(s) * 3 + sqrt(k + R(1.0)) * 0.1 + max(s, R(I(-1))); }),
       [](double s, const Pair& p) {
         return 3 / (1 + std::exp(-s)) + std::sqrt(static_cast<double>(p.k) + 1) * 0.1 + std::max(s, -1.0);
       }},
      {"Choice", "k < 8 ? s + 1 : s * 0.5", score([](R s, I, I k) { return select(k < 8, s + 1.0, s * 0.5); }),
       [](double s, const Pair& p) { return p.k < 8 ? s + 1 : s * 0.5; }},
  };
}

INSTANTIATE_TEST_SUITE_P(E2e, ScoreFormulas, testing::ValuesIn(cases()), [](const auto& one) { return one.param.name; });

TEST(Launches, DynamicParameters) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse("k <= q + off && q + off - k < w", {{"off", Dynamic{}}, {"w", Dynamic{}}}));
  spec.score = Score::parse("s * t", {{"t", Dynamic{.real = true}}});
  for (const int64_t off : {0, 30, -20}) {
    LaunchOptions options;
    options.scale = 0.3, options.ints = {{"off", off}, {"w", 25}}, options.reals = {{"t", 0.7}};
    expect_right(
        engine, spec, {.batch = 1, .heads = 2, .kv_heads = 1, .sq = 40, .sk = 90},
        [=](const Pair& p) { return p.k <= p.q + off && p.q + off - p.k < 25; }, [](double s, const Pair&) { return s * 0.7; },
        options);
  }
  EXPECT_EQ(engine.compilations(), 1);
}

TEST(Launches, RunTimeDivisorOfZeroMasks) {
  Engine engine(without_disk());
  const AttentionSpec spec = masked(Mask::parse("!(q / n != k / n)", {{"n", Dynamic{}}}));
  for (const int64_t n : {0, 1, 16, -5}) {
    LaunchOptions options;
    options.ints = {{"n", n}};
    expect_right(
        engine, spec, {.batch = 1, .heads = 1, .kv_heads = 1, .sq = 40, .sk = 40, .dim = 16, .value_dim = 16},
        [=](const Pair& p) { return n != 0 && floor_div(p.q, n) == floor_div(p.k, n); }, plain, options);
  }
}

/// Scores of -inf keep a pair out; a row of nothing else is a row without keys.
TEST(Launches, RowsOfMinusInfiniteScoresAreEmpty) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask());
  spec.score = Score::parse("q < 10 ? log(0.0 * k) : s");
  expect_right(engine, spec, {.batch = 1, .heads = 1, .kv_heads = 1, .sq = 40, .sk = 40},
               [](const Pair& p) { return p.q >= 10; });
}

TEST(Launches, ScaleOfZeroAveragesTheAllowedValues) {
  Engine engine(without_disk());
  LaunchOptions options;
  options.scale = 0.0;
  expect_right(
      engine, masked(Mask::parse("k <= q")), {.batch = 1, .heads = 1, .kv_heads = 1, .sq = 40, .sk = 40},
      [](const Pair& p) { return p.k <= p.q; }, plain, options);
}

/// A parameter that is NaN makes the result NaN or empty, never finite and wrong; the launch itself is legal.
TEST(Launches, NaNParameterNeverGivesFiniteNonsense) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse("k <= q"));
  spec.score = Score::parse("s * t", {{"t", Dynamic{.real = true}}});
  Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 20, .sk = 20});
  LaunchOptions options;
  options.reals = {{"t", std::numeric_limits<double>::quiet_NaN()}};
  run(engine.attention(spec), data, options);
  for (const float value : data.o) EXPECT_TRUE(std::isnan(value)) << value;
}

}  // namespace
}  // namespace heddle::test
