// What the null target counts, against counts by hand and against tiles classed pair by pair.
#include "src/codegen/reference/null_target.h"

#include "src/lower/pipeline.h"
#include "test/lower/attention_data.h"

namespace heddle::reference {
namespace {

constexpr int64_t kBatch = 2, kHeads = 3, kDim = 16, kValueDim = 8, kFloat = 4;

lower::PipelineState lowered(const std::string& mask) {
  test::Shape shape;
  shape.head_dim = kDim, shape.value_dim = kValueDim;
  return lower::run_pipeline(test::problem(mask, "", shape)).state;
}

AttentionArgs lengths(int64_t sq, int64_t sk) {
  AttentionArgs args;
  args.batch = kBatch, args.heads = kHeads, args.kv_heads = kHeads, args.sq = sq, args.sk = sk;
  return args;
}

TEST(NullTarget, DenseWorkByHand) {
  const lower::PipelineState state = lowered("");
  for (const auto& [sq, sk] : {std::pair<int64_t, int64_t>{128, 160}, {1, 1}, {100, 333}}) {
    const LaunchCounts counts = count_launch(state.tile, lengths(sq, sk));
    const int64_t blocks = kBatch * kHeads * ((sq + state.plan.tile_rows - 1) / state.plan.tile_rows);
    EXPECT_EQ(counts.launches, 1);
    EXPECT_EQ(counts.blocks, blocks);
    EXPECT_EQ(counts.full_tiles, blocks * (sk / state.plan.tile_keys));
    EXPECT_EQ(counts.partial_tiles, blocks * (sk % state.plan.tile_keys != 0));
    EXPECT_EQ(counts.mma_flops, 2 * kBatch * kHeads * sq * sk * (kDim + kValueDim));
    EXPECT_EQ(counts.bytes_read, kFloat * (kBatch * kHeads * sq * kDim + blocks * sk * (kDim + kValueDim)));
    EXPECT_EQ(counts.bytes_written, kFloat * kBatch * kHeads * sq * (kValueDim + 1));
  }
}

TEST(NullTarget, EmptyGridsLaunchNothing) {
  EXPECT_EQ(count_launch(lowered("k <= q").tile, lengths(0, 64)), LaunchCounts{});
}

TEST(NullTarget, RowsWithoutKeysAreStoredAllTheSame) {
  const LaunchCounts counts = count_launch(lowered("false").tile, lengths(64, 64));
  EXPECT_EQ(counts.full_tiles + counts.partial_tiles, 0);
  EXPECT_EQ(counts.mma_flops, 0);
  EXPECT_EQ(counts.bytes_written, kFloat * kBatch * kHeads * 64 * (kValueDim + 1));
}

TEST(NullTarget, VisitsTheTilesOfTheMaskAndNoOthers) {
  const lower::PipelineState state = lowered("k <= q && q - k < 50");
  const int64_t rows = state.plan.tile_rows, keys = state.plan.tile_keys, length = 8 * rows;
  int64_t full = 0, partial = 0;
  for (int64_t qb = 0; qb < length / rows; ++qb) {
    for (int64_t kb = 0; kb < length / keys; ++kb) {
      int64_t allowed = 0;
      for (int64_t q = qb * rows; q < qb * rows + rows; ++q) {
        for (int64_t k = kb * keys; k < kb * keys + keys; ++k) allowed += k <= q && q - k < 50;
      }
      full += allowed == rows * keys, partial += allowed > 0 && allowed < rows * keys;
    }
  }
  const LaunchCounts counts = count_launch(state.tile, lengths(length, length));
  EXPECT_EQ(counts.full_tiles, kBatch * kHeads * full);
  EXPECT_EQ(counts.partial_tiles, kBatch * kHeads * partial);
  EXPECT_GT(partial, 0);
}

TEST(NullTarget, PrintsItsCounts) {
  EXPECT_EQ(print(LaunchCounts{1, 2, 3, 4, 5, 6, 7}),
            "1 launch, 2 blocks, 3 full and 4 partial tiles, 5 flops, 6 bytes read, 7 bytes written\n");
}

}  // namespace
}  // namespace heddle::reference
