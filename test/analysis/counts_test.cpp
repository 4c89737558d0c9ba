// Counts against brute force written from the definitions of the case files (test/cases/README.md).
#include "src/analysis/counts.h"

#include <gtest/gtest.h>

#include "heddle/error.h"
#include "src/analysis/periodic_expr.h"
#include "src/ir/evaluate.h"
#include "test/analysis/counts_judge.h"
#include "test/analysis/mask_families.h"
#include "test/analysis/random_mask.h"

namespace heddle::analysis::test {
namespace {

const std::vector<TileShape> kShapes = {{64, 64}, {16, 16}, {7, 13}, {128, 64}, {1, 1}, {300, 5}, {24, 400}};

CountRequest everything(std::vector<TileShape> shapes, int threads = 1) {
  return {.tiles = std::move(shapes), .pieces = true, .columns = true, .checksum = true, .threads = threads};
}

/// By the rows of the facts and by enumeration, on one thread and on two.
void expect_counts(const ir::Expr& mask, Lengths lengths, const std::vector<TileShape>& shapes, const Ints& ints,
                   const std::vector<const MaskFacts*>& facts) {
  const std::string wanted = text(judge(DenseMask(mask, lengths, ints), shapes));
  for (const MaskFacts* one : facts) {
    for (int threads : {1, 2}) {
      ASSERT_EQ(text(count(*one, lengths, everything(shapes, threads), ints)), wanted)
          << ir::print(mask) << " at " << lengths.sq << " x " << lengths.sk << ", " << to_string(one->proof()) << ", " << threads
          << " threads";
    }
  }
}

MaskFacts enumerated(const ir::Expr& mask) { return MaskFacts(mask, {.budget = 1, .lengths = std::nullopt}); }

std::vector<MaskFamily> all_families() {
  std::vector<MaskFamily> all = mask_families();
  for (const MaskFamily& image : image_families()) {
    if (image.line <= 28) all.push_back(image);
  }
  return all;
}

class CountsOfFamilies : public testing::TestWithParam<size_t> {};

TEST_P(CountsOfFamilies, AreThoseOfBruteForce) {
  const MaskFamily family = all_families()[GetParam()];
  std::vector<std::string> dynamic;
  for (const auto& [name, value] : family.dynamic) {
    if (name != "h") dynamic.push_back(name);
  }
  const ir::Expr mask = parse_mask(family.text, dynamic);
  const MaskFacts facts(mask), pairs = enumerated(mask);
  ASSERT_EQ(pairs.proof(), Proof::Enumerated);
  const std::vector<TileShape> shapes = {kShapes[GetParam() % kShapes.size()], kShapes[(GetParam() + 1) % kShapes.size()]};
  for (const Lengths lengths : {Lengths{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 97}, {97, 1}, {64, 64}, {101, 307}, {257, 131}}) {
    ASSERT_NO_FATAL_FAILURE(expect_counts(mask, lengths, shapes, family.dynamic, {&facts, &pairs}));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CountsOfFamilies, testing::Range(size_t{0}, all_families().size()));

class CountsOfRandomMasks : public testing::TestWithParam<uint64_t> {};

TEST_P(CountsOfRandomMasks, AreThoseOfBruteForce) {
  const ir::Expr mask = parse_mask(RandomMask(GetParam()).text());
  const MaskFacts facts(mask, {.budget = 20'000, .lengths = std::nullopt}), pairs = enumerated(mask);
  const std::vector<TileShape> shapes = {kShapes[GetParam() % kShapes.size()], kShapes[(GetParam() * 3 + 1) % kShapes.size()]};
  for (const Lengths lengths : {Lengths{83, 149}, {149, 83}, {1, 211}, {2, 0}}) {
    ASSERT_NO_FATAL_FAILURE(expect_counts(mask, lengths, shapes, {}, {&facts, &pairs}));
  }
  const Lengths fixed{97, 120};
  const MaskFacts at_lengths(mask, {.budget = 2'000, .lengths = fixed});
  ASSERT_NO_FATAL_FAILURE(expect_counts(mask, fixed, shapes, {}, {&at_lengths}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, CountsOfRandomMasks, testing::Range(uint64_t{0}, uint64_t{48}));

/// More rows than a unit of work of either way of counting.
TEST(Counts, OfManyRowsOnTwoThreads) {
  for (const char* formula : {"k <= q && (q - k < 9 || k % 8 >= 6)", "(q - k) % 5 == 1", "q / 100 == k / 9", "k < 3 || q >= 9001"}) {
    const ir::Expr mask = parse_mask(formula);
    const MaskFacts facts(mask), pairs = enumerated(mask);
    ASSERT_EQ(facts.proof(), Proof::Symbolic) << formula;
    ASSERT_NO_FATAL_FAILURE(expect_counts(mask, {9007, 61}, {{64, 64}, {16, 16}, {96, 10}}, {}, {&facts, &pairs}));
  }
}

TEST(Counts, AtValuesOfHeadsBatchesSizesAndParameters) {
  const ir::Expr mask = parse_mask("k <= q + h * 3 && (k + b) % w != 0 && q - k < 20 * H", {"w"});
  const MaskFacts facts(mask), pairs = enumerated(mask);
  for (const Ints& ints : {Ints{{"h", 0}, {"b", 0}, {"w", 1}, {"H", 1}}, {{"h", 4}, {"b", 3}, {"w", 7}, {"H", 2}},
                           {{"h", 1}, {"b", 2}, {"w", 0}, {"H", 9}}, {{"h", 1}, {"b", 2}, {"w", 3}, {"H", 9}, {"other", 5}}}) {
    ASSERT_NO_FATAL_FAILURE(expect_counts(mask, {90, 101}, {{16, 16}}, ints, {&facts, &pairs}));
  }
}

TEST(Counts, AMissingValueIsNamed) {
  const ir::Expr mask = parse_mask("k <= q + h + width", {"width"});
  const MaskFacts facts(mask), pairs = enumerated(mask);
  for (const MaskFacts* one : {&facts, &pairs}) {
    try {
      count(*one, {4, 4}, {}, {{"h", 1}});
      FAIL() << "width has no value";
    } catch (const UserError& error) {
      EXPECT_NE(error.message().find("'width'"), std::string::npos) << error.what();
    }
    EXPECT_THROW(count(*one, {4, 4}, {}, {{"width", 1}}), UserError);
    EXPECT_EQ(count(*one, {4, 4}, {}, {{"width", 0}, {"h", 0}}).nnz, 10);
  }
}

TEST(Counts, WrongLengthsAndShapesAreRefused) {
  const MaskFacts facts(parse_mask("k <= q"));
  EXPECT_THROW(count(facts, {-1, 4}, {}), UserError);
  EXPECT_THROW(count(facts, {4, -1}, {}), UserError);
  EXPECT_THROW(count(facts, {4, 4}, everything({{0, 8}})), UserError);
  EXPECT_THROW(count(facts, {4, 4}, everything({{8, 0}})), UserError);
}

TEST(Counts, OnlyWhatIsAskedFor) {
  const MaskFacts facts(parse_mask("k <= q"));
  const MaskCounts counts = count(facts, {4, 4}, {.tiles = {}});
  EXPECT_FALSE(counts.empty_cols || counts.row_runs_max || counts.row_runs_total || counts.affine_rows || counts.fnv1a64);
  EXPECT_TRUE(counts.tiles.empty());
}

/// Closed forms beyond 2^32 pairs, in milliseconds.
TEST(Counts, OfAMillionRows) {
  const int64_t n = int64_t{1} << 20, blocks = n / 64;
  const MaskCounts causal = count(MaskFacts(parse_mask("k <= q")), {n, n}, {});
  EXPECT_EQ(causal.nnz, n * (n + 1) / 2);
  EXPECT_EQ(causal.tiles.at({64, 64}), (TileCounts{blocks * (blocks - 1) / 2, blocks * (blocks - 1) / 2, blocks, n * (n - 64) / 2, n * 64}));
  const MaskCounts fixed = count(MaskFacts(parse_mask("k % 128 >= 126 && k <= q")), {n, n}, {});
  const int64_t lines = n / 128;  // Row 128 y + x allows 2 y keys, one more where x = 126 and two more where x = 127.
  EXPECT_EQ(fixed.nnz, 128 * lines * (lines - 1) + 3 * lines);
  EXPECT_EQ(fixed.contig_runs_max, lines);
}

TEST(Period, IsAPeriod) {
  for (const auto& [formula, wanted] : std::map<std::string, int64_t>{{"k % 128 >= 120", 128},
                                                                      {"(2 * k + q) % 6 == 1 || k % 4 == q % 4", 12},
                                                                      {"k - 2 * q - 32 * ((k - 2 * q - 2) / 32) >= 31", 32},
                                                                      {"k % 30 / 7 == 2 && 3 - k % 4 > 1", 60},
                                                                      {"(k % 6) * (k % 5) > 3 && q > 7", 30},
                                                                      {"k / 8 - (k + 3) / 8 == 0", 8},
                                                                      {"q % 3 == 1", 1}}) {
    const ir::Expr mask = parse_mask(formula);
    const auto found = period(mask, "k", 128);
    ASSERT_EQ(found, wanted) << formula;
    const ir::CompiledExpr compiled(mask, {"q", "k"});
    for (int64_t q = 0; q < 9; ++q) {
      for (int64_t k = 0; k < 130; ++k) {
        const int64_t here[] = {q, k}, there[] = {q, k + *found};
        ASSERT_EQ(compiled.run_int(here), compiled.run_int(there)) << formula << " at " << q << ", " << k;
      }
    }
  }
}

TEST(Period, IsNotFoundWhereThereIsNone) {
  for (const char* formula : {"k <= q", "k % 129 == 1", "k / 8 == q", "(k * k) % 8 < 3", "k % 100 == k % 99", "k - (k + 1) / 2 > 3"}) {
    EXPECT_EQ(period(parse_mask(formula), "k", 128), std::nullopt) << formula;
  }
}

}  // namespace
}  // namespace heddle::analysis::test
