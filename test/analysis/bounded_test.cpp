// Counts that are given up beyond a number of steps, counts from known ranges of keys, and estimates from samples.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "src/analysis/cells.h"
#include "src/analysis/counts.h"
#include "src/analysis/sample.h"
#include "test/analysis/mask_families.h"
#include "test/analysis/random_mask.h"

namespace heddle::analysis::test {
namespace {

constexpr int64_t kMillion = 1 << 20;

/// Ranges of blocks of rows x cols, as a bind would give them; now and then certain ranges are left open.
KnownRanges ranges_of(const DenseMask& mask, TileShape block, uint64_t seed) {
  std::mt19937_64 random(seed);
  KnownRanges known{block.rows, {0}, {}};
  for (int64_t q = 0; q < mask.lengths.sq; q += block.rows) {
    for (int64_t k = 0; k < mask.lengths.sk; k += block.cols) {
      const int64_t end = std::min(k + block.cols, mask.lengths.sk);
      int64_t allowed = 0, pairs = 0;
      for (int64_t i = q; i < std::min(q + block.rows, mask.lengths.sq); ++i) {
        for (int64_t j = k; j < end; ++j) ++pairs, allowed += mask.at(i, j);
      }
      const bool open = random() % 8 == 0;
      if (allowed > 0 || open) known.ranges.push_back({k, end, allowed == pairs && !open});
    }
    known.offsets.push_back(static_cast<int64_t>(known.ranges.size()));
  }
  return known;
}

void expect_equal(const MaskCounts& got, const MaskCounts& wanted, const std::string& what) {
  EXPECT_EQ(got.nnz, wanted.nnz) << what;
  EXPECT_EQ(got.empty_rows, wanted.empty_rows) << what;
  EXPECT_EQ(got.row_nnz_max, wanted.row_nnz_max) << what;
  EXPECT_EQ(got.contig_runs_max, wanted.contig_runs_max) << what;
  EXPECT_EQ(got.contig_runs_total, wanted.contig_runs_total) << what;
  EXPECT_EQ(got.empty_cols, wanted.empty_cols) << what;
  EXPECT_EQ(got.row_runs_total, wanted.row_runs_total) << what;
  EXPECT_EQ(got.affine_rows, wanted.affine_rows) << what;
  EXPECT_EQ(got.fnv1a64, wanted.fnv1a64) << what;
  EXPECT_EQ(got.sample_rows, wanted.sample_rows) << what;
  EXPECT_EQ(got.tiles, wanted.tiles) << what;
}

TEST(KnownRanges, CountLikeEveryPair) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const ir::Expr mask = parse_mask(RandomMask(seed).text());
    const Lengths lengths{1 + static_cast<int64_t>(seed * 37 % 150), 1 + static_cast<int64_t>(seed * 53 % 300)};
    const MaskFacts facts(mask, {.budget = 1, .lengths = std::nullopt});
    ASSERT_EQ(facts.proof(), Proof::Enumerated);
    CountRequest request{.tiles = {{16, 16}, {7, 13}}, .pieces = true, .columns = true, .checksum = true, .threads = 2};
    const MaskCounts wanted = count(facts, lengths, request);
    const KnownRanges known = ranges_of(DenseMask(mask, lengths, {}), {static_cast<int64_t>(1 + seed % 70), static_cast<int64_t>(1 + seed % 40)}, seed);
    request.limits.known = &known;
    expect_equal(count(facts, lengths, request), wanted, ir::print(mask));
    EXPECT_EQ(count_cells(facts, lengths, {9, 31}, 2, {}, {}, {.known = &known}).allowed, count_cells(facts, lengths, {9, 31}, 2).allowed);
  }
}

/// Masks whose rows are long lists of strips, or whose tiles repeat late: they are given up, whatever the thread count.
TEST(CountLimits, EndCountsOfAdversaries) {
  constexpr int64_t kMost = int64_t{1} << 22;
  for (const char* text : {"(q + 37 * (k % 4095)) % 41 < 20", "k % 10007 * 37 % 41 < 20", "(q - k) % 2 == 0 || (q - k) % 3 == 0",
                           "(k % 1000 + q) % 997 < k % 7", "q * k % 11 < 4", "(q + k) % 3 == 0 || (q - k) % 5 == 0 || k % 7 == q % 7"}) {
    const MaskFacts facts(parse_mask(text), {.lengths = Lengths{kMillion, kMillion}});
    for (const int threads : {1, 3}) {
      EXPECT_THROW(count(facts, {kMillion, kMillion}, {.threads = threads, .limits = {kMost}}), OverWork) << text;
    }
  }
}

TEST(CountLimits, AreNotMetByClosedForms) {
  const Lengths lengths{kMillion / 16, kMillion / 16};
  constexpr int64_t kMost = 320'000'000 / 16;  // Of a picture of a million rows.
  for (const char* text : {"k <= q", "k <= q && q - k < 256", "(q - k) % 4093 == 0", "(q - k) % 4093 == 0 && k <= q", "(q - k) % 65521 == 3", "(q - k) % 5003 == 3",
                           "(q / 100 == k / 100 || k % 100 >= 88) && k <= q", "q / 4093 == k / 4093"}) {
    const MaskFacts facts(parse_mask(text), {.lengths = lengths});
    const MaskCounts counts = count(facts, lengths, {.runs = false, .threads = 2, .limits = {kMost}});
    EXPECT_LE(counts.steps, kMost) << text;
    EXPECT_EQ(count(facts, lengths, {.runs = false, .threads = 1}).steps, counts.steps) << text;
    const CellGrid grid = count_cells(facts, lengths, {256, 256}, 2, {}, {}, {.most_steps = kMost});
    EXPECT_EQ(std::accumulate(grid.allowed.begin(), grid.allowed.end(), int64_t{0}), counts.nnz) << text;
  }
}

TEST(Sample, IsWithinItsErrorAndTheSameOnAnyThreads) {
  int outside = 0, all = 0;
  for (const char* text : {"k <= q", "(q - k) % 7 == 0", "q * k % 11 < 4", "k % 128 >= 120", "abs(q - k) < 3", "q >= 100 && k < 20", "k > q + 1000"}) {
    const ir::Expr mask = parse_mask(text);
    const Lengths lengths{700, 900};
    const MaskCounts exact = count(MaskFacts(mask), lengths, {.tiles = {{32, 16}}});
    const PairSample pairs = sample_pairs(mask, lengths, 4000, {}, 1);
    EXPECT_GE(pairs.points, 3900);
    EXPECT_LE(pairs.points, 4100);
    EXPECT_EQ(sample_pairs(mask, lengths, 4000, {}, 3).allowed.value, pairs.allowed.value) << text;
    const TileSample tiles = sample_tiles(mask, lengths, {32, 16}, 200, {}, 2);
    EXPECT_EQ(tiles.of, 22 * 57);
    EXPECT_DOUBLE_EQ(tiles.full.value + tiles.partial.value + tiles.empty.value, 1) << text;
    const TileCounts& wanted = exact.tiles.at({32, 16});
    const auto part = [&](int64_t some) { return static_cast<double>(some) / static_cast<double>(tiles.of); };
    for (const auto& [share, value] : {std::pair{pairs.allowed, exact.density(lengths)}, {tiles.full, part(wanted.full)},
                                       {tiles.partial, part(wanted.partial)}, {tiles.empty, part(wanted.empty)}}) {
      ++all, outside += std::abs(share.value - value) > share.error;
      EXPECT_LE(std::abs(share.value - value), 2 * share.error) << text;
    }
  }
  EXPECT_LE(outside, all / 8);
}

TEST(Sample, OfEveryPairIsExact) {
  const ir::Expr mask = parse_mask("q * k % 11 < 4");
  const Lengths lengths{53, 61};
  const MaskFacts facts(mask);
  EXPECT_EQ(sample_cells(mask, lengths, {4, 20}, 144, {}, 2).allowed, count_cells(facts, lengths, {4, 20}, 1).allowed);
  const TileSample tiles = sample_tiles(mask, lengths, {8, 8}, 1000, {}, 1);
  const MaskCounts counts = count(facts, lengths, {.tiles = {{8, 8}}});
  EXPECT_EQ(tiles.tiles, 7 * 8);
  EXPECT_DOUBLE_EQ(tiles.partial.value * 56, static_cast<double>(counts.tiles.at({8, 8}).partial));
}

TEST(Sample, CellsAreNearTheirCounts) {
  const ir::Expr mask = parse_mask("(q - k) % 7 < 3 && k <= q");
  const Lengths lengths{1000, 1000};
  const std::vector<int64_t> exact = count_cells(MaskFacts(mask), lengths, {100, 100}, 1).allowed;
  const CellGrid grid = sample_cells(mask, lengths, {100, 100}, 144, {}, 2);
  ASSERT_EQ(grid.allowed.size(), exact.size());
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(static_cast<double>(grid.allowed[i]), static_cast<double>(exact[i]), 2000) << i;
}

}  // namespace
}  // namespace heddle::analysis::test
