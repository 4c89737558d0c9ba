#include "src/analysis/closed_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "src/analysis/strip.h"
#include "src/analysis/tile_relations.h"
#include "test/analysis/facts_check.h"

namespace heddle::analysis::test {
namespace {

using ir::Expr;
using ir::Op;
using Values = std::vector<int64_t>;

Expr c(int64_t value) { return ir::int_const(value); }

Values visited(const ir::NestPiece& piece, const Ints& ints) {
  Values values;
  ir::visit({{piece}}, ints, [&](int64_t value) { values.push_back(value); });
  std::sort(values.begin(), values.end());
  return values;
}

int64_t extreme(const std::vector<Expr>& bounds, const Ints& ints, int64_t none, Op op) {
  int64_t result = none;
  for (const Expr& bound : bounds) {
    const int64_t value = visited({{}, {{"x", {bound}, {bound}, 1, nullptr}}, {}, ir::var("x")}, ints).at(0);
    result = op == Op::Max ? std::max(result, value) : std::min(result, value);
  }
  return result;
}

Values visited(const std::vector<ClosedPiece>& pieces, const Ints& ints) {
  Values values;
  for (const ClosedPiece& closed : pieces) {
    const int64_t low = extreme(closed.lower, ints, INT64_MIN, Op::Max), high = extreme(closed.upper, ints, INT64_MAX, Op::Min);
    for (int64_t value : visited(closed.piece, ints)) {
      if (value >= low && value <= high) values.push_back(value);
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

/// for (k = low; k <= high; k++) if (condition) visit(k)
ir::NestPiece filtered(const std::string& condition) {
  return {{}, {{"k", {ir::var("low")}, {ir::var("high")}, 1, nullptr}}, {parse_mask(condition, {"low", "high"})}, ir::var("k")};
}

/// for (k = low; k <= high; k += 3) if (condition) visit(2 * k)
TEST(ClosedLoops, ConditionsOnQuotientsBecomeBounds) {
  for (const char* condition : {"7 * (k / 7) + 3 >= q", "q - 7 * (k / 7) < 9", "(2 * k + q) / 5 <= 4", "3 * ((k - 4) / 5) > q - 2 * ((k - 4) / 5)", "-(k / 4) >= q / 3 - 5"}) {
    ir::NestPiece piece = filtered("k > 0");
    piece.inner = {parse_mask(condition)};
    piece.loops[0].stride = 3, piece.loops[0].offset = ir::var("q");
    const std::vector<ClosedPiece> closed = close_loops(piece, "q", {{"low", 0}, {"high", 0}});
    ASSERT_EQ(closed.size(), 1u) << condition;
    EXPECT_TRUE(closed[0].piece.inner.empty()) << condition;
    for (int64_t q = 0; q < 40; ++q) {
      for (int64_t low = -20; low < 20; low += 3) {
        const Ints ints = {{"q", q}, {"low", low}, {"high", low + q}};
        EXPECT_EQ(visited(closed, ints), visited(piece, ints)) << condition << " at " << q << ", " << low;
      }
    }
  }
}

TEST(ClosedLoops, ConditionsThatRepeatBecomeRuns) {
  for (const char* condition : {"k % 10 >= 7", "-9 * k % 25 >= 7", "k / 3 % 2 == 1 && k % 5 != 0", "(k + 4) % 8 < 6", "k % 3 < 3", "k % 4 > 4"}) {
    const ir::NestPiece piece = filtered(condition);
    const std::vector<ClosedPiece> closed = close_loops(piece, "q", {{"low", 0}, {"high", 0}});
    for (const ClosedPiece& part : closed) EXPECT_EQ(expanded_loops(part.piece), 0u) << condition;
    for (int64_t low = -30; low < 30; ++low) {
      for (int64_t high = low - 3; high < low + 60; high += 7) {
        const Ints ints = {{"low", low}, {"high", high}};
        ASSERT_EQ(visited(closed, ints), visited(piece, ints)) << condition << " in " << low << " .. " << high;
      }
    }
  }
}

TEST(ClosedLoops, ConditionsOnTheRowStay) {
  const ir::NestPiece piece = filtered("(k + q) % 10 >= 7");
  const std::vector<ClosedPiece> closed = close_loops(piece, "q", {{"low", 0}, {"high", 0}});
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_EQ(expanded_loops(closed[0].piece), 1u);
  EXPECT_EQ(last_loop_period(closed[0].piece), 10);
  EXPECT_EQ(last_loop_period(filtered("k * k % 7 == 1")), 0);
}

TEST(ClosedLoops, BoundsOfTheValueLeaveTheInnerLoop) {
  const Expr line = ir::make(Op::Mul, {c(16), ir::var("y")}), last = ir::make(Op::Sub, {ir::var("n"), line});
  const ir::Loop outer{"y", {c(1)}, {c(4)}, 1, nullptr}, inner{"x", {c(3)}, {c(12), last}, 1, nullptr};
  const ir::NestPiece piece{{}, {outer, inner}, {}, ir::make(Op::Add, {line, ir::var("x")})};
  EXPECT_EQ(expanded_loops(piece), 1u);
  const std::vector<ClosedPiece> closed = close_loops(piece, "q", {{"n", 0}});
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_EQ(expanded_loops(closed[0].piece), 0u);
  for (int64_t n = 0; n < 90; ++n) EXPECT_EQ(visited(closed, {{"n", n}}), visited(piece, {{"n", n}})) << n;
}

TEST(Strips, ClippedColumnsAreThoseInTheBounds) {
  std::mt19937 random(7);
  const auto draw = [&](int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random); };
  for (int trial = 0; trial < 3000; ++trial) {
    const int64_t low = draw(-5, 60), high = draw(-5, 80);
    normalise(draw(0, 20), draw(1, 4), draw(1, 5), draw(1, 30), draw(1, 5), [&](const Strip& strip) {
      Values wanted, found;
      each_column(strip, [&](int64_t column) { column >= low && column <= high ? wanted.push_back(column) : void(); });
      int parts = 0;
      clip(strip, low, high, [&](const Strip& part) {
        ++parts;
        EXPECT_TRUE(part.repeats == 1 || part.count > 1);
        each_column(part, [&](int64_t column) { found.push_back(column); });
      });
      EXPECT_EQ(found, wanted);
      EXPECT_LE(parts, 3);
    });
  }
}

TEST(BoundedTiles, AFullTileThatTheEndCutsIsPartial) {
  const ir::Loop all{"kb", {c(0)}, {ir::var("qb")}, 1, nullptr};
  const TileNests nests = bounded_tiles({{}, {{{{}, {all}, {}, ir::var("kb")}}}}, ir::var("NK"), ir::var("NF"));
  const auto tiles = [&](const ir::LoopNest& nest, int64_t qb, int64_t count, int64_t whole) {
    Values values;
    ir::visit(nest, {{"qb", qb}, {"NK", count}, {"NF", whole}}, [&](int64_t value) { values.push_back(value); });
    return values;
  };
  EXPECT_EQ(tiles(nests.full, 5, 4, 3), (Values{0, 1, 2}));
  EXPECT_EQ(tiles(nests.partial, 5, 4, 3), Values{3});
  EXPECT_EQ(tiles(nests.full, 1, 4, 3), (Values{0, 1}));
  EXPECT_TRUE(tiles(nests.partial, 1, 4, 3).empty());
  EXPECT_EQ(tiles(nests.full, 5, 4, 4), (Values{0, 1, 2, 3}));
  EXPECT_TRUE(tiles(nests.partial, 5, 4, 4).empty());
}

TEST(Nests, InnerConditionsBoundTheirLoops) {
  const auto relation = MaskFacts(parse_mask("q / 100 == k / 100")).tiles({64, 64});
  ASSERT_TRUE(relation);
  const Ints ints = {{"qb", 1000}, {"NK", 100000}, {"NF", 100000}};
  int conditional = 0;
  for (ir::NestPiece piece : relation->partial.pieces) {
    if (piece.inner.empty()) continue;
    ++conditional;
    piece.inner.clear();
    EXPECT_LE(visited(piece, ints).size(), 4u);
  }
  EXPECT_GT(conditional, 0);
}

TEST(Nests, ADigitOfOneValueNeedsNoLoop) {
  for (const char* mask : {"q / 64 == k / 64 && q % 64 % 2 == 0 && k % 64 % 2 == 0", "q % 32 == k % 32 && abs(q / 32 - k / 32) <= 3"}) {
    const MaskFacts facts(parse_mask(mask));
    EXPECT_GT(facts.digit_period(), 0) << mask;
    EXPECT_FALSE(facts.components().empty()) << mask;
    EXPECT_EQ(facts.components().size(), facts.rows().pieces.size()) << mask;
    EXPECT_EQ(check_facts(facts, {{16, 16}, {32, 16}}, {300, 333}), "") << mask;
  }
}

/// The text of every relation, asked for in the given order.
std::string relations(const std::string& mask, bool backwards) {
  std::vector<std::pair<TileShape, bool>> order = {{{64, 64}, false}, {{64, 64}, true}, {{128, 64}, false}, {{128, 64}, true}};
  std::vector<std::string> texts(order.size());
  const MaskFacts facts(parse_mask(mask, {}));
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t at = backwards ? order.size() - 1 - i : i;
    const auto relation = facts.tiles(order[at].first, order[at].second);
    texts[at] = relation ? ir::print(relation->partial, "P") + ir::print(relation->full, "F") : "none";
  }
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

TEST(Facts, DoNotDependOnTheOrderOfQueries) {
  for (const char* mask : {"k <= q", "abs(q - k) <= 256 || k < 16 || q < 16", "q / 100 == k / 100", "k <= q + Sk - Sq",
                           "k <= q && (q / 100 == k / 100 || k % 100 >= 88)", "q / 64 / 8 == k / 64 / 8 && q % 64 / 8 == k % 64 / 8",
                           "(q / 256 == k / 256 && q % 2 == 0 && k % 2 == 0) || (q - k) % 32 == 0"}) {
    EXPECT_EQ(relations(mask, false), relations(mask, true)) << mask;
  }
}

TEST(Facts, GiveUpOnceAShape) {
  AnalysisOptions options;
  options.budget = 700;
  const MaskFacts facts(parse_mask("q / 100 == k / 100"), options);
  EXPECT_FALSE(facts.tiles({64, 64}, false));
  const size_t tried = facts.costs().size();
  EXPECT_FALSE(facts.tiles({64, 64}, true));
  EXPECT_EQ(facts.costs().size(), tried);
  EXPECT_NE(facts.costs().back().outcome, "ok");
}

}  // namespace
}  // namespace heddle::analysis::test
