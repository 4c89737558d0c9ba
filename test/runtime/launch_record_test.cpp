#include <gtest/gtest.h>
#include "heddle/kernel_abi.h"

namespace heddle {
namespace {

LaunchRecord sample() {
  LaunchRecord record;
  record.symbol = "attention_window_0123";
  record.target = "cpu:avx512";
  record.head_dim = 64, record.value_dim = 40, record.block_rows = 32, record.scratch_bytes = 12345, record.max_positions = 1 << 30;
  record.lse = true;
  record.int_params = {"off", "w"};
  record.real_params = {"", "slope"};
  record.summary = "window of 256";
  record.facts = std::string("facts\n\0more", 11);
  record.plan = "plan";
  return record;
}

TEST(LaunchRecord, ReadsBackWhatWasWritten) {
  LaunchRecord read;
  ASSERT_TRUE(deserialize(serialize(sample()), read));
  EXPECT_EQ(read, sample());
}

TEST(LaunchRecord, EveryTruncationIsRefused) {
  const std::string bytes = serialize(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    LaunchRecord read;
    EXPECT_FALSE(deserialize(std::string_view(bytes).substr(0, size), read)) << size;
  }
  LaunchRecord read;
  EXPECT_FALSE(deserialize(bytes + '\0', read));
}

TEST(LaunchRecord, FlippedBitsAreRefusedOrReadAsAnotherRecord) {
  const std::string bytes = serialize(sample());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    LaunchRecord read;
    EXPECT_FALSE(deserialize(flipped, read) && read == sample()) << bit;
  }
}

TEST(LaunchRecord, OtherVersionsAreRefused) {
  std::string bytes = serialize(sample());
  bytes[0] = static_cast<char>(LaunchRecord::kVersion + 1);
  LaunchRecord read;
  EXPECT_FALSE(deserialize(bytes, read));
}

TEST(LaunchRecord, ImpossibleSizesAreRefused) {
  for (int64_t LaunchRecord::*field : {&LaunchRecord::head_dim, &LaunchRecord::value_dim, &LaunchRecord::block_rows,
                                       &LaunchRecord::scratch_bytes, &LaunchRecord::max_positions}) {
    LaunchRecord record = sample(), read;
    record.*field = -1;
    EXPECT_FALSE(deserialize(serialize(record), read));
  }
}

TEST(LaunchRecord, RowBlocksRoundUp) {
  LaunchRecord record;
  record.block_rows = 32;
  EXPECT_EQ(record.row_blocks(0), 0);
  EXPECT_EQ(record.row_blocks(1), 1);
  EXPECT_EQ(record.row_blocks(32), 1);
  EXPECT_EQ(record.row_blocks(33), 2);
}

}  // namespace
}  // namespace heddle
