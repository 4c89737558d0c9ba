#include "src/ir/evaluate.h"
#include <gtest/gtest.h>
#include <bit>
#include <cmath>
#include <limits>
#include "heddle/error.h"
#include "test/dsl/random_formula.h"

namespace heddle::ir {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min(), kHighest = std::numeric_limits<int64_t>::max();
const std::vector<std::string> kSlots = {"b", "h", "q", "k", "B", "H", "Hkv", "Sq", "Sk", "off", "s", "t"};

struct Inputs {
  explicit Inputs(const Environment& values) : ints(kSlots.size()), reals(kSlots.size()) {
    for (size_t i = 0; i < kSlots.size(); ++i) {
      if (values.ints.count(kSlots[i])) ints[i] = values.ints.at(kSlots[i]);
      if (values.reals.count(kSlots[i])) reals[i] = values.reals.at(kSlots[i]);
    }
    reals.insert(reals.end(), values.args.begin(), values.args.end());
  }
  std::vector<int64_t> ints;
  std::vector<double> reals;
};

TEST(FloorDivision, RoundsTowardsMinusInfinityAndIsTotal) {
  for (int64_t a = -20; a <= 20; ++a) {
    for (int64_t b = -6; b <= 6; ++b) {
      if (b == 0) continue;
      EXPECT_EQ(floor_div(a, b), static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b)))) << a << " / " << b;
      EXPECT_EQ(floor_div(a, b) * b + floor_mod(a, b), a);
      EXPECT_TRUE(floor_mod(a, b) == 0 || (floor_mod(a, b) < 0) == (b < 0));
    }
  }
  EXPECT_EQ(floor_div(5, 0), 0);
  EXPECT_EQ(floor_mod(5, 0), 0);
  EXPECT_EQ(floor_div(kLowest, -1), kLowest);
  EXPECT_EQ(floor_mod(kLowest, -1), 0);
}

TEST(Evaluate, IntegersWrap) {
  const auto value = [](Op op, int64_t a, int64_t b) { return evaluate_int(make(op, {int_const(a), int_const(b)}), {}); };
  EXPECT_EQ(value(Op::Add, kHighest, 1), kLowest);
  EXPECT_EQ(value(Op::Sub, kLowest, 1), kHighest);
  EXPECT_EQ(value(Op::Mul, kLowest, -1), kLowest);
  EXPECT_EQ(evaluate_int(make(Op::Abs, {int_const(kLowest)}), {}), kLowest);
  EXPECT_EQ(evaluate_int(make(Op::Neg, {int_const(kLowest)}), {}), kLowest);
}

TEST(Evaluate, RealComparisonsFollowIeee) {
  const Expr nan = make(Op::Log, {real_const(-1)}), one = real_const(1);
  EXPECT_FALSE(evaluate_bool(make(Op::Lt, {nan, one}), {}));
  EXPECT_FALSE(evaluate_bool(make(Op::Ge, {nan, one}), {}));
  EXPECT_FALSE(evaluate_bool(make(Op::Eq, {nan, nan}), {}));
  EXPECT_TRUE(evaluate_bool(make(Op::Ne, {nan, nan}), {}));
  EXPECT_TRUE(std::isnan(evaluate_real(make(Op::Min, {nan, one}), {})));
  EXPECT_TRUE(std::isnan(evaluate_real(make(Op::Max, {one, nan}), {})));
}

TEST(Evaluate, RealFunctions) {
  const auto value = [](Op op, double x) { return evaluate_real(make(op, {real_const(x)}), {}); };
  EXPECT_DOUBLE_EQ(value(Op::Exp, 1), std::exp(1.0));
  EXPECT_DOUBLE_EQ(value(Op::Log, 2), std::log(2.0));
  EXPECT_DOUBLE_EQ(value(Op::Tanh, 0.3), std::tanh(0.3));
  EXPECT_DOUBLE_EQ(value(Op::Sigmoid, 0), 0.5);
  EXPECT_DOUBLE_EQ(value(Op::Sigmoid, -1000), 0);
  EXPECT_DOUBLE_EQ(value(Op::Sigmoid, 1000), 1);
  EXPECT_DOUBLE_EQ(value(Op::Sqrt, 2), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(value(Op::Exp2, 3), 8);
  EXPECT_DOUBLE_EQ(value(Op::Log2, 8), 3);
  EXPECT_EQ(evaluate_real(make(Op::Add, {arg(0, Type::Real), arg(1, Type::Real)}), {.ints = {}, .reals = {}, .args = {1.5, 2}}), 3.5);
  EXPECT_EQ(evaluate_real(var("q"), {.ints = {{"q", 3}}, .reals = {}, .args = {}}), 3.0);
}

TEST(Evaluate, NamesWhatHasNoValue) {
  EXPECT_THROW(evaluate_int(var("q"), {}), InternalError);
  EXPECT_THROW(evaluate_real(arg(0, Type::Real), {}), InternalError);
  EXPECT_THROW(evaluate_int(bool_const(true), {}), InternalError);
}

TEST(CompiledExpr, AgreesWithTheEvaluatorOnIntegersAndConditions) {
  heddle::testing::RandomFormula random(31);
  for (int i = 0; i < 3000; ++i) {
    const Expr integer = random.integer(static_cast<int>(random.pick(7))).node();
    const Expr condition = random.condition(static_cast<int>(random.pick(7)), false).node();
    const CompiledExpr fast_integer(integer, kSlots), fast_condition(condition, kSlots);
    for (int j = 0; j < 10; ++j) {
      const Environment values = random.environment();
      const Inputs inputs(values);
      ASSERT_EQ(fast_integer.run_int(inputs.ints.data()), evaluate_int(integer, values)) << print(integer);
      ASSERT_EQ(fast_condition.run_int(inputs.ints.data()), evaluate_bool(condition, values)) << print(condition);
    }
  }
}

TEST(CompiledExpr, AgreesWithTheEvaluatorOnReals) {
  heddle::testing::RandomFormula random(32);
  for (int i = 0; i < 3000; ++i) {
    const Expr leaf = random.real(static_cast<int>(random.pick(6))).node();
    const Expr expr = make(Op::Add, {leaf, make(Op::Mul, {arg(0, Type::Real), arg(1, Type::Real)})});
    const CompiledExpr fast(expr, kSlots);
    for (int j = 0; j < 10; ++j) {
      Environment values = random.environment();
      values.args = {random.real_value(), random.real_value()};
      const Inputs inputs(values);
      const double a = fast.run_real(inputs.ints.data(), inputs.reals.data()), b = evaluate_real(expr, values);
      ASSERT_TRUE(std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b))) << print(expr);
    }
  }
}

TEST(CompiledExpr, ConvertsIntegersAndConditionsToReals) {
  const int64_t q = 7;
  EXPECT_EQ(CompiledExpr(var("q"), {"q"}).run_real(&q, nullptr), 7.0);
  EXPECT_EQ(CompiledExpr(make(Op::Lt, {var("q"), int_const(9)}), {"q"}).run_real(&q, nullptr), 1.0);
}

TEST(CompiledExpr, RefusesUnnamedLeavesAndRealsAsIntegers) {
  EXPECT_THROW(CompiledExpr(var("q"), {"k"}), InternalError);
  const int64_t q = 7;
  EXPECT_THROW(CompiledExpr(var("s", Type::Real), {"s"}).run_int(&q), InternalError);
}

TEST(CompiledExpr, TreesOfTheGreatestDepthNeedFewRegisters) {
  Expr left = var("q"), right = var("q");
  for (int i = 0; i < kMaxDepth - 2; ++i) {
    left = make(Op::Add, {left, int_const(1)});
    right = make(Op::Sub, {int_const(1), right});
  }
  const int64_t q = 5;
  EXPECT_EQ(CompiledExpr(left, {"q"}).run_int(&q), 5 + kMaxDepth - 2);
  EXPECT_EQ(CompiledExpr(right, {"q"}).run_int(&q), 5);
}

}  // namespace
}  // namespace heddle::ir
