#include "src/ir/rewrite.h"
#include <gtest/gtest.h>
#include <bit>
#include <cmath>
#include "heddle/formula.h"
#include "src/ir/evaluate.h"
#include "test/dsl/random_formula.h"

namespace heddle::ir {
namespace {

const Parameters kOff = {{"off", Dynamic{}}};

Expr mask(const std::string& text) { return Mask::parse(text, kOff).node(); }
std::string simple(const std::string& text) { return print(simplify(mask(text))); }

TEST(Simplify, FoldsConstantsAndNeutralElements) {
  EXPECT_EQ(simple("q + 0 >= k * 1"), "q >= k");
  EXPECT_EQ(simple("q + 3 - 5 >= k"), "q - 2 >= k");
  EXPECT_EQ(simple("1 + q + 2 == k"), "q + 3 == k");
  EXPECT_EQ(simple("q - q == 0 && k < q"), "k < q");
  EXPECT_EQ(simple("(q + 5) - (q - 2) == k"), "7 == k");
  EXPECT_EQ(simple("q % 1 + k / 1 == 0 * q"), "k == 0");
  EXPECT_EQ(simple("true && q < k || false"), "q < k");
  EXPECT_EQ(simple("!(q < k)"), "q >= k");
  EXPECT_EQ(simple("!!(q < k)"), "q < k");
  EXPECT_EQ(simple("0 == 1 ? q < k : k < q"), "k < q");
  EXPECT_EQ(simple("q < k ? true : false"), "q < k");
  EXPECT_EQ(simple("q <= q"), "true");
  EXPECT_EQ(simple("q != q"), "false");
  EXPECT_EQ(simple("min(q, q) == abs(abs(k))"), "q == abs(k)");
  EXPECT_EQ(simple("q < k && q < k"), "q < k");
}

TEST(Simplify, KeepsWrapAroundAndNan) {
  EXPECT_EQ(simple("q + 1 > q"), "q + 1 > q");
  EXPECT_EQ(print(simplify(Score::parse("s + 0.0").node())), "s + 0.0");
  EXPECT_EQ(print(simplify(Score::parse("!(s < 1.0) ? 1.0 : 2.0").node())), "!(s < 1.0) ? 1.0 : 2.0");
  EXPECT_EQ(print(simplify(Score::parse("s - s").node())), "s - s");
  EXPECT_EQ(print(simplify(Score::parse("1e308 * 10.0").node())), "1e+308 * 10.0");
}

TEST(Simplify, NeverChangesAConditionAtAnyPair) {
  heddle::testing::RandomFormula random(11);
  for (int i = 0; i < 3000; ++i) {
    const Expr expr = random.condition(static_cast<int>(random.pick(6)), true).node(), small = simplify(expr);
    for (int j = 0; j < 20; ++j) {
      const Environment values = random.environment();
      ASSERT_EQ(evaluate_bool(expr, values), evaluate_bool(small, values)) << print(expr) << "\n" << print(small);
    }
  }
}

TEST(Simplify, NeverChangesABitOfANumber) {
  heddle::testing::RandomFormula random(12);
  for (int i = 0; i < 3000; ++i) {
    const Expr integer = random.integer(static_cast<int>(random.pick(6))).node(), real = random.real(static_cast<int>(random.pick(6))).node();
    for (int j = 0; j < 20; ++j) {
      const Environment values = random.environment();
      ASSERT_EQ(evaluate_int(integer, values), evaluate_int(simplify(integer), values)) << print(integer);
      const double a = evaluate_real(real, values), b = evaluate_real(simplify(real), values);
      ASSERT_TRUE(std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b)))
          << print(real) << "\n" << print(simplify(real)) << "\n" << a << " " << b;
    }
  }
}

TEST(Simplify, IsIdempotent) {
  heddle::testing::RandomFormula random(13);
  int changed = 0;
  for (int i = 0; i < 1000; ++i) {
    const Expr once = simplify(random.condition(5, false).node());
    changed += !equal(once, simplify(once));
  }
  EXPECT_EQ(changed, 0);
}

TEST(Substitute, ReplacesLeavesAndKeepsTheRest) {
  const Expr expr = mask("q - k < 4 && q < off");
  const Expr shifted = substitute(expr, [](const ExprNode& leaf) { return leaf.name == "q" ? make(Op::Add, {var("q"), int_const(7)}) : nullptr; });
  EXPECT_EQ(print(shifted), "q + 7 - k < 4 && q + 7 < off");
  EXPECT_EQ(substitute(expr, [](const ExprNode&) { return nullptr; }), expr);
}

TEST(ForEachNode, SeesOperandsFirstAndSharedNodesOnce) {
  const Expr q = var("q"), sum = make(Op::Add, {q, q});
  std::vector<Expr> seen;
  for_each_node(make(Op::Mul, {sum, sum}), [&](const Expr& node) { seen.push_back(node); });
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0], q);
  EXPECT_EQ(seen[1], sum);
  for_each_node(nullptr, [&](const Expr& node) { seen.push_back(node); });
  EXPECT_EQ(seen.size(), 3u);
}

TEST(GuardDivisors, MasksPairsWithAZeroDivisor) {
  EXPECT_EQ(print(guard_divisors(mask("!(q / off == k % off) && q % 3 == 0"))), "!(q / off == k % off) && q % 3 == 0 && off != 0");
  EXPECT_EQ(print(guard_divisors(mask("k <= q"))), "k <= q");
  EXPECT_EQ(print(guard_divisors(mask("k <= q"), Score::parse("s * (q / (k - 1))").node())), "k <= q && k - 1 != 0");
  EXPECT_EQ(print(guard_divisors(mask("k <= q"), Score::parse("s / real(q)").node())), "k <= q");
}

TEST(GuardDivisors, GuardsDivisorsInsideDivisors) {
  const Expr guarded = guard_divisors(mask("q % (k / h) == 0"));
  EXPECT_EQ(print(guarded), "q % (k / h) == 0 && h != 0 && k / h != 0");
}

TEST(Questions, NamesParametersAndConstants) {
  const Expr expr = Score::parse("s * t + q / Sk + off", {{"t", Dynamic{true}}, {"off", Dynamic{}}}).node();
  EXPECT_EQ(variables(expr), (std::set<std::string>{"Sk", "q", "s"}));
  EXPECT_EQ(parameters(expr), (std::map<std::string, Type>{{"off", Type::Int}, {"t", Type::Real}}));
  EXPECT_TRUE(mentions(expr, "q"));
  EXPECT_FALSE(mentions(expr, "k"));
  EXPECT_EQ(as_int_constant(make(Op::Mul, {int_const(6), int_const(7)})), 42);
  EXPECT_EQ(as_int_constant(make(Op::Sub, {var("q"), var("q")})), 0);
  EXPECT_EQ(as_int_constant(var("q")), std::nullopt);
  EXPECT_EQ(as_int_constant(real_const(1)), std::nullopt);
}

}  // namespace
}  // namespace heddle::ir
