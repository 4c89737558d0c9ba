#include <gtest/gtest.h>
#include <algorithm>
#include "heddle/formula.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"
#include "test/dsl/random_formula.h"

namespace heddle::ir {
namespace {

/// The Int side of "text == 0".
Expr integer(const std::string& text) { return Mask::parse("(" + text + ") == 0").node()->operands[0]; }

TEST(Range, IsTightForEachOperation) {
  const std::map<std::string, Interval> ranges = {{"q", {0, 9}}, {"k", {-3, 4}}};
  const auto check = [&](const char* text, int64_t low, int64_t high) { EXPECT_EQ(range(integer(text), ranges), (Interval{low, high})) << text; };
  check("q + k", -3, 13);
  check("q - k", -4, 12);
  check("q * k", -27, 36);
  check("-k", -4, 3);
  check("abs(k)", 0, 4);
  check("min(q, k)", -3, 4);
  check("max(q, k)", 0, 9);
  check("q / 4", 0, 2);
  check("k / 2", -2, 2);
  check("q % 4", 0, 3);
  check("(q + 20) % 100", 20, 29);
  check("k % 3", 0, 2);
  check("q % 100", 0, 9);
  check("q % -4", -3, 0);
  check("abs(q - q % 5) % 4", 0, 3);
  check("q < 20 ? k : 1000", -3, 4);
  check("q < 5 ? k : 1000", -3, 1000);
}

TEST(Range, UnknownNamesAndOverflowAreFull) {
  EXPECT_EQ(range(integer("Sk"), {}), Interval::full());
  EXPECT_EQ(range(integer("q * q"), {{"q", {0, int64_t{1} << 40}}}), Interval::full());
  EXPECT_EQ(range(integer("-q"), {}), Interval::full());
  EXPECT_EQ(range(integer("Sk % 8"), {}), (Interval{0, 7}));
}

TEST(Range, HoldsEveryValue) {
  heddle::testing::RandomFormula random(21);
  for (int i = 0; i < 2000; ++i) {
    const Expr expr = random.integer(4).node();
    std::map<std::string, Interval> ranges;
    std::vector<Environment> samples;
    for (int j = 0; j < 10; ++j) {
      samples.push_back(random.environment());
      for (const auto& [name, value] : samples.back().ints) {
        const auto [at, fresh] = ranges.try_emplace(name, Interval{value, value});
        at->second = {std::min(at->second.low, value), std::max(at->second.high, value)};
      }
    }
    const Interval found = range(expr, ranges);
    for (const Environment& values : samples) {
      const int64_t value = evaluate_int(expr, values);
      ASSERT_TRUE(found.low <= value && value <= found.high) << print(expr) << ": " << value << " outside [" << found.low << ", " << found.high << "]";
    }
  }
}

TEST(Fits, LooksAtEverySubExpression) {
  const Interval within = {-1000, 1000};
  const std::map<std::string, Interval> ranges = {{"q", {0, 100}}, {"k", {0, 100}}};
  EXPECT_TRUE(fits(Mask::parse("q * 10 < k").node(), ranges, within));
  EXPECT_FALSE(fits(Mask::parse("q * 11 < k").node(), ranges, within));
  EXPECT_FALSE(fits(Mask::parse("q * 11 % 7 == 0").node(), ranges, within));
  EXPECT_FALSE(fits(Mask::parse("k < Sk").node(), ranges, within));
  EXPECT_FALSE(fits(Mask::parse("q < 2000").node(), ranges, within));
  EXPECT_TRUE(fits(Score::parse("s * (q - k)").node(), ranges, within));
  EXPECT_FALSE(fits(Score::parse("s * exp(q * k)").node(), ranges, within));
}

}  // namespace
}  // namespace heddle::ir
