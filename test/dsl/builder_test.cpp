#include <gtest/gtest.h>
#include <limits>
#include <string>
#include "heddle/error.h"
#include "heddle/formula.h"
#include "src/ir/expr.h"

namespace heddle {
namespace {

template <typename F>
std::string message(F make) {
  try {
    make();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Builder, BuildsTheSameNodesAsText) {
  const Mask window = mask([](Index q, Index k) { return k <= q && q - k < 256; });
  EXPECT_TRUE(equal(window.node(), Mask::parse("k <= q && q - k < 256").node()));
  const Mask heads = mask([](Index h, Index q, Index k) { return abs(q - k) % (h + 1) == 0 || !(max(q, 3) != min(k, 4)); });
  EXPECT_TRUE(equal(heads.node(), Mask::parse("abs(q - k) % (h + 1) == 0 || !(max(q, 3) != min(k, 4))").node()));
  const Mask batch = mask([](Index b, Index h, Index q, Index k) { return select(b > h, q, -k) >= clamp(q / 2, 0, 9); });
  EXPECT_TRUE(equal(batch.node(), Mask::parse("(b > h ? q : -k) >= clamp(q / 2, 0, 9)").node()));
}

TEST(Builder, BuildsTheSameScoresAsText) {
  EXPECT_TRUE(equal(score([](Real s) { return softcap(s, 30.0); }).node(), Score::parse("softcap(s, 30.0)").node()));
  EXPECT_TRUE(equal(score([](Real s, Index q, Index k) { return s - Real(abs(q - k)) * 0.5; }).node(), Score::parse("s - abs(q - k) * 0.5").node()));
  EXPECT_TRUE(equal(score([](Real s, Index h, Index, Index) { return s * sigmoid(h) + exp(-s) / sqrt(abs(s)); }).node(),
                    Score::parse("s * sigmoid(h) + exp(-s) / sqrt(abs(s))").node()));
  EXPECT_TRUE(equal(score([](Real s, Index b, Index, Index, Index) { return select(s < 0.0, log(max(s, 1.0)), tanh(min(s, b))); }).node(),
                    Score::parse("s < 0.0 ? log(max(s, 1.0)) : tanh(min(s, b))").node()));
  EXPECT_TRUE(equal(score([](Real s) { return clamp(s, -1.0, 1.0); }).node(), Score::parse("clamp(s, -1.0, 1.0)").node()));
}

TEST(Builder, ConstantsOfEveryNumberType) {
  const Index q = variable("q"), k = variable("k");
  const Real s = score_variable();
  const auto text = [](const Real& real) { return Score(real).text(); };
  EXPECT_EQ(text(s - 0.5 * abs(q - k)), Score::parse("s - 0.5 * abs(q - k)").text());
  EXPECT_EQ(text(s - abs(q - k) * 0.5f), Score::parse("s - abs(q - k) * 0.5").text());
  EXPECT_EQ(Mask(k <= size_t{3} * q + 2u).text(), Mask::parse("k <= 3 * q + 2").text());
}

TEST(Builder, DefaultsAreEveryPairAndThePlainScore) {
  EXPECT_EQ(Mask().text(), "true");
  EXPECT_EQ(Score().node(), nullptr);
  EXPECT_EQ(Score().text(), "s");
  EXPECT_EQ(Score::parse("score").node(), nullptr);
}

TEST(Builder, CausalTakesItsAlignment) {
  EXPECT_EQ(Mask::causal(Mask::Align::TopLeft).text(), "k <= q");
  EXPECT_EQ(Mask::causal(Mask::Align::BottomRight).text(), "k <= q + (Sk - Sq)");
}

TEST(Builder, DynamicParametersAreLeaves) {
  EXPECT_TRUE(equal(mask([](Index q, Index k) { return q + int_parameter("off") >= k; }).node(),
                    Mask::parse("q + off >= k", {{"off", Dynamic{}}}).node()));
  EXPECT_TRUE(equal(score([](Real s) { return s * real_parameter("t"); }).node(), Score::parse("s * t", {{"t", Dynamic{true}}}).node()));
}

TEST(Builder, RefusesWhatTheParserRefuses) {
  const Index q = variable("q");
  EXPECT_EQ(message([&] { q / 0; }), "'/' by zero\nhint: use a divisor that is not 0");
  EXPECT_EQ(message([&] { q % 0; }), "'%' by zero\nhint: use a divisor that is not 0");
  EXPECT_EQ(message([&] { Index(std::numeric_limits<int64_t>::max()) + 1; }),
            "'+' of constants does not fit into a 64-bit integer\nhint: integers reach from -2^63 to 2^63 - 1");
  EXPECT_EQ(message([&] { variable("Sw"); }), "unknown variable 'Sw'\nhint: known: b, h, q, k, B, H, Hkv, Sq, Sk");
  EXPECT_EQ(message([&] { int_parameter("q"); }), "formula: the parameter 'q' has the name of an index variable\nhint: choose another name");
  EXPECT_EQ(message([&] { real_parameter("1x"); }),
            "formula: '1x' is no name for a parameter\nhint: use letters, digits and '_', a letter first");
  EXPECT_EQ(message([&] { Real(std::numeric_limits<double>::quiet_NaN()); }), "the constant nan is not finite\nhint: give it a finite value");
}

TEST(Builder, MasksAreIntegerFormulas) {
  EXPECT_EQ(message([] { Mask(score_variable() < 1.0); }),
            "a mask is an integer formula, but 's' is a real number\nhint: reals belong into the score");
}

TEST(Builder, OneNameIsOneParameter) {
  EXPECT_EQ(message([] { Score(real_parameter("w") + Real(int_parameter("w"))); }),
            "the parameter 'w' is both an integer and a real number\nhint: choose another name for one");
}

TEST(Builder, SharedTreesMayNotExplode) {
  Index x = variable("q");
  EXPECT_NE(message([&] {
              for (int i = 0; i < 64; ++i) x = x + x;
            }).find("the formula has more than 131072 operations"),
            std::string::npos);
}

}  // namespace
}  // namespace heddle
