// Counts against brute force written from the definitions of the case files (test/cases/README.md).
#include "src/analysis/counts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "heddle/error.h"
#include "src/analysis/periodic_expr.h"
#include "src/ir/evaluate.h"
#include "test/analysis/mask_families.h"
#include "test/analysis/random_mask.h"

namespace heddle::analysis::test {
namespace {

const std::vector<TileShape> kShapes = {{64, 64}, {16, 16}, {7, 13}, {128, 64}, {1, 1}, {300, 5}, {24, 400}};

std::vector<int64_t> keys_of(const DenseMask& mask, int64_t q) {
  std::vector<int64_t> keys;
  for (int64_t k = 0; k < mask.lengths.sk; ++k) {
    if (mask.at(q, k)) keys.push_back(k);
  }
  return keys;
}

/// A piece starts at the first uncovered column, its stride is the distance to the next one, it goes on while that repeats.
int64_t greedy_pieces(const std::vector<int64_t>& keys) {
  int64_t pieces = 0;
  for (size_t i = 0; i < keys.size(); ++pieces) {
    size_t end = i + 1;
    while (end < keys.size() && keys[end] - keys[end - 1] == keys[i + 1] - keys[i]) ++end;
    i = end;
  }
  return pieces;
}

int64_t contiguous_runs(const std::vector<int64_t>& keys) {
  int64_t runs = 0;
  for (size_t i = 0; i < keys.size(); ++i) runs += i == 0 || keys[i] != keys[i - 1] + 1;
  return runs;
}

TileCounts tile_classes(const DenseMask& mask, TileShape shape) {
  TileCounts counts;
  const auto [sq, sk] = mask.lengths;
  for (int64_t q0 = 0; q0 < sq; q0 += shape.rows) {
    for (int64_t k0 = 0; k0 < sk; k0 += shape.cols) {
      int64_t allowed = 0, pairs = 0;
      for (int64_t q = q0; q < std::min(q0 + shape.rows, sq); ++q) {
        for (int64_t k = k0; k < std::min(k0 + shape.cols, sk); ++k) ++pairs, allowed += mask.at(q, k);
      }
      ++(allowed == 0 ? counts.empty : allowed == pairs ? counts.full : counts.partial);
    }
  }
  return counts;
}

uint64_t fnv1a64(const DenseMask& mask) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int64_t q = 0; q < mask.lengths.sq; ++q) {
    for (int64_t k0 = 0; k0 < mask.lengths.sk; k0 += 8) {
      unsigned byte = 0;
      for (int64_t k = k0; k < std::min(k0 + 8, mask.lengths.sk); ++k) byte |= unsigned{mask.at(q, k)} << (k - k0);
      hash = (hash ^ byte) * 0x100000001b3;
    }
  }
  return hash;
}

std::vector<SampleRow> samples(const DenseMask& mask) {
  const int64_t sq = mask.lengths.sq;
  std::vector<SampleRow> rows;
  for (int64_t q : {int64_t{0}, sq / 3, 2 * sq / 3, sq - 1}) {
    if (sq == 0 || (!rows.empty() && rows.back().row == q)) continue;
    const std::vector<int64_t> keys = keys_of(mask, q);
    rows.push_back({q, keys.empty() ? -1 : keys.front(), keys.empty() ? -1 : keys.back(), static_cast<int64_t>(keys.size())});
  }
  return rows;
}

/// Every count, by the definitions.
MaskCounts judge(const DenseMask& mask, const std::vector<TileShape>& shapes) {
  MaskCounts counts;
  int64_t pieces_max = 0, pieces_total = 0, affine_rows = 0, empty_cols = 0;
  for (int64_t q = 0; q < mask.lengths.sq; ++q) {
    const std::vector<int64_t> keys = keys_of(mask, q);
    const int64_t n = static_cast<int64_t>(keys.size()), pieces = greedy_pieces(keys), runs = contiguous_runs(keys);
    counts.nnz += n, counts.empty_rows += n == 0, counts.row_nnz_max = std::max(counts.row_nnz_max, n);
    counts.contig_runs_max = std::max(counts.contig_runs_max, runs), counts.contig_runs_total += runs;
    pieces_max = std::max(pieces_max, pieces), pieces_total += pieces, affine_rows += pieces == 1;
  }
  for (int64_t k = 0; k < mask.lengths.sk; ++k) {
    bool empty = true;
    for (int64_t q = 0; q < mask.lengths.sq; ++q) empty = empty && !mask.at(q, k);
    empty_cols += empty;
  }
  counts.empty_cols = empty_cols, counts.row_runs_max = pieces_max, counts.row_runs_total = pieces_total;
  counts.affine_rows = affine_rows, counts.fnv1a64 = fnv1a64(mask), counts.sample_rows = samples(mask);
  for (const TileShape& shape : shapes) counts.tiles[shape] = tile_classes(mask, shape);
  return counts;
}

std::string text(const MaskCounts& c) {
  std::string all = fmt::format("nnz {} empty rows {} cols {} row nnz {} pieces {} {} affine {} runs {} {} hash {:x}\n", c.nnz,
                                c.empty_rows, c.empty_cols.value_or(-1), c.row_nnz_max, c.row_runs_max.value_or(-1),
                                c.row_runs_total.value_or(-1), c.affine_rows.value_or(-1), c.contig_runs_max, c.contig_runs_total,
                                c.fnv1a64.value_or(0));
  for (const auto& [shape, t] : c.tiles) all += fmt::format("{}x{}: {} {} {}\n", shape.rows, shape.cols, t.empty, t.full, t.partial);
  for (const SampleRow& row : c.sample_rows) all += fmt::format("row {}: {} {} {}\n", row.row, row.first, row.last, row.count);
  return all;
}

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
  EXPECT_EQ(causal.tiles.at({64, 64}), (TileCounts{blocks * (blocks - 1) / 2, blocks * (blocks - 1) / 2, blocks}));
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
