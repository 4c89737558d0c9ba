// What orders accesses to shared memory and what does not, on the memory alone.
#include "test/emulator/shared_memory.h"

#include <gtest/gtest.h>

namespace heddle::emulator {
namespace {

struct Block {
  Findings findings;
  SharedMemory memory{findings};
  uint32_t value = 7;

  explicit Block(int bytes = 256, int threads = 64) { memory.begin_block(bytes, threads, 32); }
  void write(int thread, int64_t address) { memory.write(thread, address, 4, &value); }
  uint32_t read(int thread, int64_t address) {
    uint32_t got = 0;
    memory.read(thread, address, 4, &got);
    return got;
  }
  uint64_t races() const { return findings.count(FindingKind::Race); }
};

TEST(SharedMemory, OneThreadIsInOrder) {
  Block block;
  block.write(3, 8);
  EXPECT_EQ(block.read(3, 8), 7u);
  block.write(3, 8);
  EXPECT_TRUE(block.findings.clean()) << block.findings.to_string();
}

TEST(SharedMemory, LockStepOrdersNothing) {
  Block block;
  block.write(3, 8);
  block.read(4, 8);
  EXPECT_EQ(block.races(), 2u);  // two cells of two bytes
}

TEST(SharedMemory, AWarpBarrierOrdersItsWarpOnly) {
  Block block;
  block.write(3, 8);
  block.memory.warp_barrier(0);
  block.read(4, 8);
  EXPECT_EQ(block.races(), 0u);
  block.read(40, 8);
  EXPECT_EQ(block.races(), 2u);
}

TEST(SharedMemory, ABlockBarrierOrdersAll) {
  Block block;
  block.write(3, 8);
  block.memory.block_barrier();
  for (const int thread : {4, 40}) block.read(thread, 8);
  block.memory.block_barrier();
  block.write(50, 8);
  EXPECT_TRUE(block.findings.clean()) << block.findings.to_string();
}

TEST(SharedMemory, WritesRaceWithEveryEarlierReader) {
  for (const std::vector<int>& readers : {std::vector<int>{4}, {4, 5}, {4, 40}, {40, 5, 4}}) {
    Block block;
    block.write(3, 8);
    block.memory.block_barrier();
    for (const int thread : readers) block.read(thread, 8);
    block.write(3, 8);
    EXPECT_GT(block.races(), 0u) << readers.size();
  }
}

TEST(SharedMemory, ReadersOfAWarpAreOrderedByItsBarrier) {
  Block block;
  block.write(3, 8);
  block.memory.block_barrier();
  block.read(4, 8);
  block.read(5, 8);
  block.memory.warp_barrier(0);
  block.write(3, 8);
  EXPECT_EQ(block.races(), 0u);
}

TEST(SharedMemory, SixteenBytesAndTheirPartsShareOneShadow) {
  Block block;
  const uint64_t wide[2] = {1, 2};
  block.memory.write(3, 16, 16, wide);
  block.read(4, 28);
  EXPECT_GT(block.races(), 0u);
  Block other;
  other.write(3, 20);
  other.memory.write(5, 16, 16, wide);
  EXPECT_GT(other.races(), 0u);
}

TEST(SharedMemory, NeighboursDoNotRace) {
  Block block;
  for (int thread = 0; thread < 64; ++thread) block.write(thread, 4 * thread);
  for (int thread = 0; thread < 64; ++thread) block.read(thread, 4 * thread);
  EXPECT_TRUE(block.findings.clean()) << block.findings.to_string();
}

TEST(SharedMemory, WhatNobodyWroteIsPoison) {
  Block block;
  EXPECT_EQ(block.read(0, 0), 0xffffffffu);
  EXPECT_EQ(block.findings.count(FindingKind::UninitialisedRead), 2u);
}

TEST(SharedMemory, CopiesLandAtTheirWaitOnly) {
  Block block;
  const uint32_t source[4] = {1, 2, 3, 4};
  block.memory.copy_async(0, 16, 16, reinterpret_cast<const uint8_t*>(source), 16);
  block.memory.commit_group(0);
  block.memory.copy_async(0, 32, 16, reinterpret_cast<const uint8_t*>(source), 8);
  block.memory.commit_group(0);
  block.memory.wait_group(0, 1, false);
  EXPECT_EQ(block.read(0, 20), 2u);
  EXPECT_TRUE(block.findings.clean()) << block.findings.to_string();
  EXPECT_EQ(block.read(0, 36), 0xffffffffu);
  EXPECT_EQ(block.findings.count(FindingKind::ReadInFlight), 2u);
  block.memory.wait_group(0, 0, false);
  EXPECT_EQ(block.read(0, 36), 2u);
  EXPECT_EQ(block.read(0, 40), 0u);  // beyond the source
  block.memory.end_block();
  EXPECT_EQ(block.findings.count(FindingKind::NeverWaited), 0u);
}

TEST(SharedMemory, ACopyIsItsThreadsWrite) {
  Block block;
  const uint32_t source[4] = {1, 2, 3, 4};
  block.memory.copy_async(0, 16, 16, reinterpret_cast<const uint8_t*>(source), 16);
  block.memory.wait_group(0, 0, true);
  block.read(1, 20);
  EXPECT_GT(block.races(), 0u);
  Block other;
  other.memory.copy_async(0, 16, 16, reinterpret_cast<const uint8_t*>(source), 16);
  other.memory.end_block();
  EXPECT_EQ(other.findings.count(FindingKind::NeverWaited), 1u);
}

TEST(SharedMemory, AtomicsRaceWithPlainAccessesOnly) {
  Block block;
  block.write(0, 8);
  block.memory.block_barrier();
  for (const int thread : {1, 40, 2}) ASSERT_NE(block.memory.atomic(thread, 8, 4), nullptr);
  EXPECT_TRUE(block.findings.clean()) << block.findings.to_string();
  block.read(5, 8);
  EXPECT_GT(block.races(), 0u);
}

TEST(SharedMemory, BoundsAndAlignment) {
  Block block;
  block.write(0, 256);
  block.write(0, -4);
  block.write(0, 254);
  EXPECT_EQ(block.findings.count(FindingKind::OutOfBounds), 3u);
  block.write(0, 6);
  EXPECT_EQ(block.findings.count(FindingKind::Misaligned), 1u);
}

TEST(SharedMemory, ABlockBeginsAnew) {
  Block block;
  block.write(3, 8);
  block.memory.begin_block(256, 64, 32);
  block.read(4, 8);
  EXPECT_EQ(block.races(), 0u);
  EXPECT_GT(block.findings.count(FindingKind::UninitialisedRead), 0u);
}

}  // namespace
}  // namespace heddle::emulator
