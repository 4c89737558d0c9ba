#include <gtest/gtest.h>
#include "dsl/parser.h"
#include "src/ir/rewrite.h"
#include "test/dsl/random_formula.h"

namespace heddle {
namespace {

ir::Expr reparsed(const ir::Expr& expr) {
  dsl::ParseOptions options;
  options.type = expr->type == ir::Type::Bool ? ir::Type::Real : expr->type;
  options.parameters = {{"off", Dynamic{}}, {"t", Dynamic{true}}};
  if (expr->type != ir::Type::Bool) return dsl::parse_formula(print(expr), options);
  // A condition with reals stands only in a score: wrap it in a choice.
  return dsl::parse_formula("(" + print(expr) + ") ? 1.0 : 0.0", options)->operands[0];
}

TEST(RoundTrip, ScoresPrintAndParseBackToTheSameTree) {
  testing::RandomFormula random(1);
  for (int i = 0; i < 4000; ++i) {
    const ir::Expr expr = random.real(static_cast<int>(random.pick(6))).node();
    EXPECT_TRUE(equal(expr, reparsed(expr))) << print(expr) << "\n" << print(reparsed(expr));
  }
}

TEST(RoundTrip, ConditionsPrintAndParseBackToTheSameTree) {
  testing::RandomFormula random(2);
  for (int i = 0; i < 4000; ++i) {
    const ir::Expr expr = random.condition(static_cast<int>(random.pick(6)), true).node();
    EXPECT_TRUE(equal(expr, reparsed(expr))) << print(expr) << "\n" << print(reparsed(expr));
  }
}

TEST(RoundTrip, MasksPrintAndParseBackToTheSameTree) {
  testing::RandomFormula random(3);
  for (int i = 0; i < 4000; ++i) {
    const Mask mask(random.condition(static_cast<int>(random.pick(7)), false));
    EXPECT_TRUE(equal(mask.node(), Mask::parse(mask.text(), {{"off", Dynamic{}}}).node())) << mask.text();
  }
}

TEST(RoundTrip, SimplifiedFormulasKeepTheirMeaningThroughText) {
  testing::RandomFormula random(4);
  for (int i = 0; i < 2000; ++i) {
    const ir::Expr expr = simplify(random.condition(4, false).node());
    const ir::Expr back = Mask::parse(print(expr), {{"off", Dynamic{}}}).node();
    EXPECT_TRUE(equal(expr, simplify(back))) << print(expr);
    const ir::Environment values = random.environment();
    EXPECT_EQ(evaluate_bool(expr, values), evaluate_bool(back, values)) << print(expr);
  }
}

TEST(RoundTrip, PrintingWritesNoSuperfluousParentheses) {
  for (const char* text : {"q - (k - 1) - 2 == 0", "-(q + k) * 2 == k", "q * (k / 2) % 3 == 0", "(q < k || k < 3) && q < 5", "!(q < k) && !!(q == k)",
                           "q - -5 == k", "(q < 1 ? k : q) == 3", "q < 1 ? k < 1 : q < 2 ? k < 2 : k < 3", "min(q, max(k, -9223372036854775808)) < 1",
                           "--q == -k", "q / (k / 2) == q / k / 2", "(q < 1 ? k < 2 : k < 3) ? q < 4 : q < 5"}) {
    EXPECT_EQ(Mask::parse(text).text(), text);
  }
}

TEST(RoundTrip, PromotionsArePrintedOnlyWhereTheTextNeedsThem) {
  for (const char* text : {"s * q", "real(q) / k", "exp(q - k)", "abs(real(q)) + s", "q < k ? s : q", "-real(q)", "real(q)", "min(real(q), k)"}) {
    EXPECT_EQ(Score::parse(text).text(), text);
  }
}

TEST(RoundTrip, RealsKeepEveryBit) {
  testing::RandomFormula random(5);
  for (const double value : {0.1, -0.0, 5e-324, 1.7976931348623157e308, 1e16, 1.0 / 3, 123456789.0, 1e-5}) {
    const ir::Expr expr = (score_variable() * Real(value)).node();
    EXPECT_TRUE(equal(expr, Score::parse(print(expr)).node())) << print(expr);
  }
}

}  // namespace
}  // namespace heddle
