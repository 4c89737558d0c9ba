#include "runtime/bind_interval.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/bind_step.h"

namespace heddle::runtime {
namespace {

int64_t floor_div(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t floor_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - floor_div(a, b) * b; }

/// Calls visit(a, b, hull of what values(x, y) gives) for all small ranges.
template <typename Values, typename Visit>
void each_small_pair(Values values, Visit visit) {
  constexpr int64_t kMost = 4;
  for (int64_t al = -kMost; al <= kMost; ++al) {
    for (int64_t ah = al; ah <= kMost; ++ah) {
      for (int64_t bl = -kMost; bl <= kMost; ++bl) {
        for (int64_t bh = bl; bh <= kMost; ++bh) {
          Interval found = {values(al, bl), values(al, bl)};
          for (int64_t x = al; x <= ah; ++x) {
            for (int64_t y = bl; y <= bh; ++y) found = hull(found, {values(x, y), values(x, y)});
          }
          visit(Interval{al, ah}, Interval{bl, bh}, found);
        }
      }
    }
  }
}

template <typename Values>
void expect_exact(Interval (*operation)(Interval, Interval), Values values) {
  each_small_pair(values, [&](Interval a, Interval b, Interval exact) {
    ASSERT_EQ(operation(a, b), exact) << a.low << ".." << a.high << " and " << b.low << ".." << b.high;
  });
}

TEST(BindIntervalTest, SmallRangesAreExact) {
  expect_exact(add, [](int64_t x, int64_t y) { return x + y; });
  expect_exact(subtract, [](int64_t x, int64_t y) { return x - y; });
  expect_exact(multiply, [](int64_t x, int64_t y) { return x * y; });
  expect_exact(divide, floor_div);
  expect_exact(minimum, [](int64_t x, int64_t y) { return std::min(x, y); });
  expect_exact(maximum, [](int64_t x, int64_t y) { return std::max(x, y); });
  expect_exact(less, [](int64_t x, int64_t y) { return int64_t{x < y}; });
  expect_exact(less_equal, [](int64_t x, int64_t y) { return int64_t{x <= y}; });
  expect_exact(equal, [](int64_t x, int64_t y) { return int64_t{x == y}; });
  expect_exact([](Interval a, Interval) { return absolute(a); }, [](int64_t x, int64_t) { return std::abs(x); });
}

TEST(BindIntervalTest, ModuloContainsAllAndIsExactWithinOnePeriod) {
  each_small_pair(floor_mod, [](Interval a, Interval b, Interval exact) {
    const Interval found = modulo(a, b);
    ASSERT_TRUE(found.low <= exact.low && found.high >= exact.high) << a.low << ".." << a.high << " by " << b.low << ".." << b.high;
    if (b.single() && floor_div(a.low, b.low) == floor_div(a.high, b.low)) {
      ASSERT_EQ(found, exact);
    }
  });
  EXPECT_EQ(modulo({-16, -3}, {16, 16}), (Interval{0, 13}));
}

TEST(BindIntervalTest, WhatMayLeave64BitsIsTheFullRange) {
  const Interval least{kFull.low, kFull.low}, most{kFull.high, kFull.high}, one{1, 1}, minus{-1, -1};
  EXPECT_EQ(add(most, one), kFull);
  EXPECT_EQ(add(most, minus), (Interval{kFull.high - 1, kFull.high - 1}));
  EXPECT_EQ(subtract(least, one), kFull);
  EXPECT_EQ(multiply(kFull, {2, 2}), kFull);
  EXPECT_EQ(divide(least, minus), kFull);
  EXPECT_EQ(divide(kFull, {2, 2}), (Interval{kFull.low / 2, kFull.high / 2}));
  EXPECT_EQ(divide(kFull, {0, 0}), (Interval{0, 0}));
  EXPECT_EQ(modulo(kFull, least), (Interval{kFull.low + 1, 0}));
  EXPECT_EQ(modulo(kFull, most), (Interval{0, kFull.high - 1}));
  EXPECT_EQ(absolute(least), kFull);
}

TEST(BindStepTest, OperandCountsFollowTheList) {
  EXPECT_EQ(operand_count(BindOp::Const), 0);
  EXPECT_EQ(operand_count(BindOp::Read), 0);
  EXPECT_EQ(operand_count(BindOp::Neg), 1);
  EXPECT_EQ(operand_count(BindOp::Not), 1);
  EXPECT_EQ(operand_count(BindOp::Add), 2);
  EXPECT_EQ(operand_count(BindOp::Or), 2);
  EXPECT_EQ(operand_count(BindOp::Select), 3);
}

}  // namespace
}  // namespace heddle::runtime
