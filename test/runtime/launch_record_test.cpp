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
  record.tables = {{"doc", DType::Int32, 1}, {"keep", DType::Bool, 2}, {"slopes", DType::Float32, 1}};
  record.bind.steps = {{BindOp::Var, 0, 0, 0, 2}, {BindOp::Var, 0, 0, 0, 3},  {BindOp::Read, 0, 0, 0, 0}, {BindOp::Read, 1, 0, 0, 0},
                       {BindOp::Eq, 2, 3, 0, 0},  {BindOp::Read, 2, 0, 0, 1}, {BindOp::And, 4, 5, 0, 0},  {BindOp::Param, 0, 0, 0, 1}};
  record.bind.reads = {0, 1, 0, 1};
  record.bind.by_head = true;
  record.tile_keys = 16;
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

bool read_back(const LaunchRecord& record) {
  LaunchRecord read;
  return deserialize(serialize(record), read);
}

TEST(LaunchRecord, TablesOutsideTheirDomainAreRefused) {
  for (const TableDeclaration& wrong : {TableDeclaration{"", DType::Int32, 1}, TableDeclaration{"t", DType::Float16, 1},
                                        TableDeclaration{"t", static_cast<DType>(77), 1}, TableDeclaration{"t", DType::Int32, 0},
                                        TableDeclaration{"t", DType::Int32, kMaxTableRank + 1}}) {
    LaunchRecord record = sample();
    record.tables.push_back(wrong);
    EXPECT_FALSE(read_back(record)) << wrong.name << ' ' << wrong.rank;
  }
}

TEST(LaunchRecord, StepsThatPointOutsideAreRefused) {
  const std::pair<size_t, BindStep> wrong[] = {
      {0, {BindOp::Var, 0, 0, 0, 9}},   {0, {BindOp::Var, 0, 0, 0, -1}},  {0, {BindOp::Var, 1, 0, 0, 2}},
      {7, {BindOp::Param, 0, 0, 0, 2}}, {7, {BindOp::Param, 0, 0, 0, -1}}, {2, {BindOp::Read, 0, 0, 0, 3}},
      {2, {BindOp::Read, 0, 0, 0, -1}}, {2, {BindOp::Read, -1, 0, 0, 0}}, {2, {BindOp::Read, 4, 0, 0, 0}},
      {5, {BindOp::Read, 3, 0, 0, 1}},  {5, {BindOp::Read, 0, 0, 0, 2}},  {4, {BindOp::Eq, 2, 4, 0, 0}},
      {4, {BindOp::Eq, -1, 3, 0, 0}},   {4, {BindOp::Eq, 2, 3, 1, 0}},    {4, {BindOp::Eq, 2, 3, 0, 5}},
      {4, {BindOp::Not, 2, 3, 0, 0}},   {4, {BindOp::Select, 1, 2, 4, 0}}, {4, {static_cast<BindOp>(200), 2, 3, 0, 0}},
      {0, {BindOp::Read, 0, 0, 0, 0}}};
  for (const auto& [at, step] : wrong) {
    LaunchRecord record = sample();
    record.bind.steps[at] = step;
    EXPECT_FALSE(read_back(record)) << at << ' ' << static_cast<int>(step.op) << ' ' << step.a << ' ' << step.value;
  }
}

TEST(LaunchRecord, ReadsOfLaterStepsAreRefused) {
  for (const int32_t index : {-1, 5, 1000}) {
    LaunchRecord record = sample();
    record.bind.reads[3] = index;
    EXPECT_FALSE(read_back(record)) << index;
  }
}

TEST(LaunchRecord, ListsNeedATileSize) {
  LaunchRecord record = sample();
  record.tile_keys = 0;
  EXPECT_FALSE(read_back(record));
  record.bind = {};
  EXPECT_TRUE(read_back(record));
}

TEST(LaunchRecord, CountsBeyondTheInputAreRefused) {
  const std::string bytes = serialize(sample());
  for (size_t at = 4; at + 8 <= bytes.size(); ++at) {
    std::string hostile = bytes;
    hostile.replace(at, 8, 8, static_cast<char>(0x7f));
    LaunchRecord read;
    EXPECT_FALSE(deserialize(hostile, read) && read == sample()) << at;
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
