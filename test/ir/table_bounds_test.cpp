// Which tables are refused at which lengths: forms, sizes of plain indices, and indices that certainly leave a table.
#include <gtest/gtest.h>
#include <string>
#include <vector>
#include "dsl/parser.h"
#include "heddle/error.h"
#include "src/ir/narrow.h"
#include "src/ir/table_bounds.h"

namespace heddle::ir {
namespace {

std::vector<int64_t> memory(1 << 16);

Tensor ints(std::vector<int64_t> shape) { return Tensor::dense(memory.data(), std::move(shape), DType::Int32); }

Expr mask(const std::string& text) {
  const Parameters tables = {{"t", TableOf{}}, {"u", TableOf{}}};
  return dsl::parse_formula(text, {.parameters = tables, .origin = "mask"});
}

struct Sizes {
  int64_t sq = 10, sk = 20, batch = 2, heads = 4;
};

Box ranges(const Sizes& sizes) {
  const auto exactly = [](int64_t value) { return Interval{value, value}; };
  return {{"b", {0, sizes.batch - 1}}, {"h", {0, sizes.heads - 1}}, {"q", {0, sizes.sq - 1}}, {"k", {0, sizes.sk - 1}},
          {"B", exactly(sizes.batch)}, {"H", exactly(sizes.heads)}, {"Sq", exactly(sizes.sq)}, {"Sk", exactly(sizes.sk)}};
}

/// The message of the refusal, or "".
std::string refused(const Expr& formula, const Tables& tables, const Sizes& sizes = {}, const Expr& score = nullptr) {
  try {
    check_tables(formula, score, tables, ranges(sizes));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string refused(const std::string& text, std::vector<int64_t> shape, const Sizes& sizes = {}) {
  return refused(mask(text), {{"t", ints(std::move(shape))}}, sizes);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TableBounds, R113ShapesOfPlainIndices) {
  const std::string text = "t[q, k] == 1";
  EXPECT_EQ(refused(text, {10, 20}), "");
  EXPECT_EQ(refused(text, {1, 20}), "");
  EXPECT_EQ(refused(text, {10, 1}), "");
  const std::vector<std::pair<std::vector<int64_t>, std::string>> wrong = {
      {{10, 15}, "[10, 15]"}, {{10, 25}, "[10, 25]"}, {{8, 20}, "[8, 20]"}, {{20, 10}, "[20, 10]"}};
  for (const auto& [shape, given] : wrong) {
    EXPECT_TRUE(has(refused(text, shape), "the table 't' has shape " + given + "; expected [10, 20]")) << refused(text, shape);
  }
  EXPECT_TRUE(has(refused("t[b, h] == 1", {2, 3}), "expected [2, 4]"));
  EXPECT_TRUE(has(refused("q >= k && t[q, k] == 1", {10, 15}), "expected [10, 20]"));
}

TEST(TableBounds, WhatIsGivenMustBeWhatIsDeclared) {
  const Expr formula = mask("t[q] == u[k]");
  EXPECT_EQ(refused(formula, {{"t", ints({10})}, {"u", ints({20})}}), "");
  EXPECT_TRUE(has(refused(formula, {{"t", ints({10})}}), "the table 'u' is missing"));
  EXPECT_TRUE(has(refused(formula, {{"t", ints({10})}, {"u", ints({20})}, {"uu", ints({20})}}), "unknown table 'uu'"));
  EXPECT_TRUE(has(refused(formula, {{"t", Tensor::dense(memory.data(), {10}, DType::Int64)}, {"u", ints({20})}}), "is int64"));
  EXPECT_TRUE(has(refused(formula, {{"t", ints({10, 1})}, {"u", ints({20})}}), "with 1 index"));
  EXPECT_TRUE(has(refused(formula, {{"t", Tensor::dense(nullptr, {10}, DType::Int32)}, {"u", ints({20})}}), "null"));
}

TEST(TableBounds, SeveralUsesOfOneDimensionNeedTheLargest) {
  EXPECT_EQ(refused("t[q] == t[k]", {20}), "");
  EXPECT_EQ(refused("t[q] == t[k]", {64}), "");
  EXPECT_TRUE(has(refused("t[q] == t[k]", {10}), "expected [at least 20]"));
  EXPECT_TRUE(has(refused("t[q] == t[q / 2]", {9}), "expected [at least 10]"));
  EXPECT_EQ(refused("t[q] == t[q / 2]", {11}), "");
}

TEST(TableBounds, OtherIndicesThatLeaveAtSomePair) {
  const std::string text = "t[h, q - k + 19] == 1";
  EXPECT_EQ(refused(text, {4, 29}), "");
  const std::string found = refused(text, {4, 28});
  EXPECT_TRUE(has(found, "the index q - k + 19 of dimension 1 of the table 't' goes from 0 to 28; expected 0 to 27 for shape [4, 28]")) << found;
  EXPECT_TRUE(has(found, "it is 28 at q = 9, k = 0")) << found;
  EXPECT_TRUE(has(refused("t[h, q - k + 18] == 1", {4, 40}), "goes from -1 to 27"));
  EXPECT_TRUE(has(refused("t[q + 100] == 1", {50}), "goes from 100 to 109"));
  EXPECT_TRUE(has(refused("t[7] == 1", {7}), "is 7; expected 0 to 6"));
  EXPECT_TRUE(has(refused("t[q / 4] == 1", {0}), "there are no elements"));
  EXPECT_EQ(refused("t[q * 1000 - k] == 1", {1}), "");
}

TEST(TableBounds, GuardsOfTheSameChainCount) {
  for (const char* fine : {"k >= 5 && t[k - 5] == 1", "t[k - 5] == 1 && k >= 5", "k - 5 >= 0 && t[k - 5] == 1", "k < 5 || t[k - 5] == 1",
                           "!(k < 5) && t[k - 5] == 1", "!(k < 5 || t[k - 5] == 1)", "4 < k && q < 3 && t[k - 5] == 1",
                           "(k >= 5 ? t[k - 5] : 0) == 1", "(k < 5 ? 0 : t[k - 5]) == 1", "q >= k && k == 7 && t[k - 5] == 1",
                           "(k + 1) / 2 > 2 && t[k - 5] == 1", "2 * k >= 10 && t[k - 5] == 1", "min(k, q) >= 5 && t[k - 5] == 1"}) {
    EXPECT_EQ(refused(fine, {15}), "") << fine;
  }
  for (const char* wrong : {"t[k - 5] == 1", "k >= 4 && t[k - 5] == 1", "k >= 5 || t[k - 5] == 1", "(k >= 5 ? 0 : t[k - 5]) == 1",
                            "k >= 5 && q < 3 || t[k - 5] == 1", "q >= k && t[k - 5] == 1"}) {
    EXPECT_NE(refused(wrong, {15}), "") << wrong;
  }
  EXPECT_EQ(refused("q - k < 7 && k <= q && t[q - k] == 1", {7}), "");
  EXPECT_EQ(refused("k < 5 && t[k] == 1", {5}), "");
  EXPECT_EQ(refused("k >= 50 && t[k - 500] == 1", {5}), "");
}

TEST(TableBounds, ScoresReadWhereTheMaskHolds) {
  const Tables tables = {{"t", ints({10})}};
  const Expr score = make(Op::Add, {var("s", Type::Real), read("t", DType::Int32, {make(Op::Sub, {var("q"), var("k")})})});
  EXPECT_EQ(refused(mask("k <= q"), tables, {}, score), "");
  EXPECT_NE(refused(nullptr, tables, {}, score), "");
  EXPECT_NE(refused(mask("k <= q"), tables, {.sq = 11}, score), "");
}

TEST(TableBounds, UndecidedIndicesPass) {
  EXPECT_EQ(refused("t[t[q]] == 1", {10}), "");
  EXPECT_EQ(refused("t[q - k] == 1 && u[0] == 1", {10}), refused("u[0] == 1 && t[q - k] == 1", {10}));
  EXPECT_EQ(refused(mask("u[k] == 1 && t[q - k] == 1"), {{"t", ints({10})}, {"u", ints({20})}}), "");
  EXPECT_EQ(refused("(q + k) % 7 == 3 && q * q == k + 50 && t[k - 5] == 1", {15}), "");
}

TEST(TableBounds, NothingIsReadAtEmptyLengths) {
  for (const Sizes& sizes : {Sizes{.sq = 0}, Sizes{.sk = 0}, Sizes{.batch = 0}, Sizes{.heads = 0}}) {
    EXPECT_EQ(refused("t[q - 100, k] == 1", {3, 4}, sizes), "");
    EXPECT_TRUE(has(refused(mask("t[q] == 1"), {}, sizes), "missing"));
  }
}

TEST(TableBounds, TableArguments) {
  const TableArg found = table_argument(ints({3, 1, 5}));
  EXPECT_EQ(found.extent[2], 5);
  EXPECT_EQ(found.stride[0], 5);
  EXPECT_EQ(found.stride[1], 0);
  const TableArg empty = table_argument(Tensor::dense(nullptr, {3, 0}, DType::Int32));
  EXPECT_EQ(*static_cast<const int64_t*>(empty.data), 0);
  EXPECT_EQ(empty.extent[0], 1);
}

/// A narrowed box still has every point where the condition holds.
TEST(Narrow, KeepsEveryPoint) {
  const char* const conditions[] = {"q - k < 3", "abs(q - k) <= 2 && k >= 4", "q / 3 == 2", "-q > k - 12", "min(q, k) >= 6 || q == 1",
                                    "!(q < 4 || k > 2 * q)", "max(q, k + 2) < 7", "(q + k) % 5 == 0 && 3 * k < q", "-2 * q <= k - 9",
                                    "!(q != 5)", "q * k >= 40"};
  for (const char* text : conditions) {
    for (bool holds : {true, false}) {
      Box box = {{"q", {0, 9}}, {"k", {-3, 9}}};
      const bool alive = narrow(mask(text), holds, box);
      for (int64_t q = 0; q <= 9; ++q) {
        for (int64_t k = -3; k <= 9; ++k) {
          if (evaluate_bool(mask(text), {.ints = {{"q", q}, {"k", k}}, .reals = {}, .args = {}}) != holds) continue;
          ASSERT_TRUE(alive) << text;
          EXPECT_TRUE(box["q"].low <= q && q <= box["q"].high && box["k"].low <= k && k <= box["k"].high) << text << " at " << q << ", " << k;
        }
      }
    }
  }
}

TEST(Narrow, FindsTheRangeOfOneVariable) {
  const auto range_of = [](const char* text) {
    Box box = {{"q", {0, 99}}, {"k", {0, 99}}};
    return narrow(mask(text), true, box) ? box["k"] : Interval{1, 0};
  };
  EXPECT_EQ(range_of("k - 5 >= 0"), (Interval{5, 99}));
  EXPECT_EQ(range_of("k / 4 == 3"), (Interval{12, 15}));
  EXPECT_EQ(range_of("3 * k <= 20 && 3 * k > 9"), (Interval{4, 6}));
  EXPECT_EQ(range_of("10 - k > 7"), (Interval{0, 2}));
  EXPECT_EQ(range_of("k > 99"), (Interval{1, 0}));
}

}  // namespace
}  // namespace heddle::ir
