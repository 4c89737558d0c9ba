#include "src/ir/loop_nest.h"
#include <gtest/gtest.h>
#include <limits>
#include "src/ir/evaluate.h"

namespace heddle::ir {
namespace {

Expr c(int64_t value) { return int_const(value); }
Expr sub(const Expr& a, int64_t b) { return make(Op::Sub, {a, c(b)}); }

std::vector<int64_t> visited(const LoopNest& nest, const std::map<std::string, int64_t>& ints) {
  std::vector<int64_t> values;
  visit(nest, ints, [&](int64_t value) { values.push_back(value); });
  return values;
}

/// Full 64 x 64 tiles of `q - k < 256 && k <= q`.
LoopNest window() {
  const Loop loop{.variable = "kb", .lower = {c(0), sub(var("qb"), 3)}, .upper = {sub(var("qb"), 1), sub(var("NF"), 1)}, .stride = 1, .offset = nullptr};
  return {{{.guards = {}, .loops = {loop}, .inner = {}, .value = var("kb")}}};
}

TEST(LoopNest, PrintsOneLineALoop) {
  EXPECT_EQ(print(window(), "F"), "for (kb = max(0, qb - 3); kb <= min(qb - 1, NF - 1); kb++)\n  F(kb);\n");
  EXPECT_EQ(print(LoopNest{}, "F"), "(nothing)\n");
}

TEST(LoopNest, PrintsGuardsStridesAndInnerConditions) {
  const Loop outer{.variable = "ky", .lower = {c(0)}, .upper = {c(3)}, .stride = 1, .offset = nullptr};
  const Loop inner{.variable = "kx", .lower = {c(0)}, .upper = {var("q")}, .stride = 4, .offset = var("q")};
  const Expr value = make(Op::Add, {make(Op::Mul, {var("ky"), c(16)}), var("kx")});
  const LoopNest nest{{{.guards = {make(Op::Lt, {var("q"), c(9)}), make(Op::Or, {bool_const(true), bool_const(false)})},
                        .loops = {outer, inner}, .inner = {make(Op::Lt, {value, var("Sk")})}, .value = value}}};
  EXPECT_EQ(print(nest, "P"),
            "if (q < 9 && (true || false))\n  for (ky = 0; ky <= 3; ky++)\n    for (kx = first(≡ q mod 4) >= 0; kx <= q; kx += 4)\n"
            "      if (ky * 16 + kx < Sk)\n        P(ky * 16 + kx);\n");
}

TEST(LoopNest, VisitsFromTheGreatestLowerToTheLeastUpperBound) {
  EXPECT_EQ(visited(window(), {{"qb", 5}, {"NF", 100}}), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(visited(window(), {{"qb", 1}, {"NF", 100}}), (std::vector<int64_t>{0}));
  EXPECT_EQ(visited(window(), {{"qb", 5}, {"NF", 3}}), (std::vector<int64_t>{2}));
  EXPECT_TRUE(visited(window(), {{"qb", 0}, {"NF", 3}}).empty());
}

TEST(LoopNest, StartsAtTheResidue) {
  for (int64_t low = -7; low <= 7; ++low) {
    for (int64_t offset = -9; offset <= 9; ++offset) {
      const Loop loop{.variable = "k", .lower = {c(low)}, .upper = {c(10)}, .stride = 3, .offset = c(offset)};
      std::vector<int64_t> expected;
      for (int64_t k = low; k <= 10; ++k) {
        if (floor_mod(k - offset, 3) == 0) expected.push_back(k);
      }
      EXPECT_EQ(visited({{{.guards = {}, .loops = {loop}, .inner = {}, .value = var("k")}}}, {}), expected) << low << " " << offset;
    }
  }
}

TEST(LoopNest, VisitsTwoLoopsUnderGuardsAndConditions) {
  const Loop outer{.variable = "y", .lower = {var("q")}, .upper = {make(Op::Add, {var("q"), c(1)})}, .stride = 1, .offset = nullptr};
  const Loop inner{.variable = "x", .lower = {var("y")}, .upper = {c(3)}, .stride = 1, .offset = nullptr};
  const NestPiece piece{.guards = {make(Op::Lt, {var("q"), c(5)})}, .loops = {outer, inner},
                        .inner = {make(Op::Ne, {var("x"), c(2)})}, .value = make(Op::Add, {make(Op::Mul, {var("y"), c(10)}), var("x")})};
  EXPECT_EQ(visited({{piece}}, {{"q", 1}}), (std::vector<int64_t>{11, 13, 23}));
  EXPECT_TRUE(visited({{piece}}, {{"q", 5}}).empty());
  EXPECT_EQ(visited({{piece, piece}}, {{"q", 1}}).size(), 6u);
}

TEST(LoopNest, EndsAtTheGreatestInteger) {
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  const Loop loop{.variable = "k", .lower = {c(kHighest - 3)}, .upper = {c(kHighest)}, .stride = 2, .offset = c(0)};
  EXPECT_EQ(visited({{{.guards = {}, .loops = {loop}, .inner = {}, .value = var("k")}}}, {}), (std::vector<int64_t>{kHighest - 3, kHighest - 1}));
}

}  // namespace
}  // namespace heddle::ir
