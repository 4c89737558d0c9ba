// Rows of masks, counts of pairs, and which rows are sampled.
#include "src/engine/mask_rows.h"

#include <gtest/gtest.h>

#include "src/engine/row_sample.h"
#include "test/engine/attention_use.h"

namespace heddle::engine {
namespace {

using test::attention_use;
using test::problem;

TEST(SampleRows, AreAllRowsWhereTheyFit) {
  EXPECT_EQ(sample_rows(4, 4), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(sample_rows(3, 1000), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_TRUE(sample_rows(0, 5).empty());
}

TEST(SampleRows, AreDistinctSortedAndHoldBothEnds) {
  for (int64_t most : {2, 3, 7, 63, 99}) {
    const std::vector<int64_t> rows = sample_rows(100, most);
    ASSERT_EQ(static_cast<int64_t>(rows.size()), most);
    EXPECT_EQ(rows.front(), 0);
    EXPECT_EQ(rows.back(), 99);
    for (size_t i = 1; i < rows.size(); ++i) EXPECT_LT(rows[i - 1], rows[i]);
  }
}

TEST(SampleRows, OfOneAndOfHugeLengths) {
  EXPECT_EQ(sample_rows(100, 1), std::vector<int64_t>{0});
  EXPECT_EQ(sample_rows(100, -3), std::vector<int64_t>{0});
  EXPECT_EQ(sample_rows(int64_t{1} << 62, 3), (std::vector<int64_t>{0, (int64_t{1} << 61) - 1, (int64_t{1} << 62) - 1}));
}

TEST(MaskRows, AreTheFormulaAtEveryPair) {
  const AttentionUse use = attention_use();
  MaskRows rows(problem("(q - k) % 3 == h && k < Sq - b && q % k != 2", use), use);
  EXPECT_FALSE(rows.shared());
  std::vector<uint8_t> keys(static_cast<size_t>(use.sk));
  for (int64_t b = 0; b < use.batch; ++b) {
    for (int64_t q : {0, 5, 36}) {
      int64_t count = 0;
      const int64_t returned = rows.row(b, 1, q, keys.data());
      for (int64_t k = 0; k < use.sk; ++k) {
        const bool allowed = k != 0 && ((q - k) % 3 + 3) % 3 == 1 && k < use.sq - b && q % k != 2;
        EXPECT_EQ(keys[k], allowed) << q << " " << k;
        count += allowed;
      }
      EXPECT_EQ(returned, count);
    }
  }
}

TEST(CountPairs, CountsEveryHeadAndBatch) {
  const AttentionUse use = attention_use();
  runtime::ThreadPool pool(3);
  const PairCount causal = count_pairs(problem("k <= q", use), use, pool);
  EXPECT_EQ(causal.allowed, 2 * 4 * (37 * 38 / 2));
  EXPECT_EQ(causal.all, 2 * 4 * 37 * 41);
  EXPECT_EQ(causal.rows, 37);
  const PairCount by_head = count_pairs(problem("k < h + 10 * b", use), use, pool);
  EXPECT_EQ(by_head.allowed, 37 * (0 + 1 + 2 + 3 + 10 + 11 + 12 + 13));
}

TEST(CountPairs, OfEveryPairAndOfNone) {
  const AttentionUse use = attention_use();
  runtime::ThreadPool pool(1);
  EXPECT_EQ(count_pairs(problem("true", use), use, pool).density(), 1);
  EXPECT_EQ(count_pairs(problem("false", use), use, pool).allowed, 0);
  const AttentionUse empty = attention_use({.sk = 0});
  EXPECT_EQ(count_pairs(problem("k <= q", empty), empty, pool).density(), 0);
}

TEST(CountPairs, EstimatesFromEvenlySpacedRowsWhereThereAreTooMany) {
  AttentionUse use = attention_use({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 1, .sk = 1});
  use.sq = 1 << 20, use.sk = 1 << 20;
  runtime::ThreadPool pool(2);
  const PairCount pairs = count_pairs(problem("k <= q", use), use, pool);
  EXPECT_FALSE(counts_all_rows(problem("k <= q", use), use));
  EXPECT_TRUE(counts_all_rows(problem("k <= q", attention_use()), attention_use()));
  EXPECT_EQ(pairs.rows, kMaxCountedPairs >> 20);
  EXPECT_NEAR(pairs.density(), 0.5, 1e-3);
}

}  // namespace
}  // namespace heddle::engine
