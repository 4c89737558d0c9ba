#include "runtime/dispatcher.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

namespace heddle::runtime {
namespace {

/// Blocks a thread gets, in its order.
std::vector<int64_t> blocks_of(const BlockPartition& part, int thread) {
  std::vector<int64_t> blocks;
  for (int64_t cycle = 0; cycle * part.threads < part.chunks(); ++cycle) {
    const int64_t first = part.chunk_of(thread, cycle) * part.chunk;
    for (int64_t block = first; block < std::min(part.blocks, first + part.chunk); ++block) blocks.push_back(block);
  }
  return blocks;
}

TEST(BlockPartition, CoversEveryBlockOnce) {
  for (const int threads : {1, 2, 3, 7, 64}) {
    for (const int64_t blocks : {1, 2, 5, 63, 64, 65, 1000, 12345}) {
      const BlockPartition part = partition(blocks, threads);
      std::vector<int64_t> all;
      for (int t = 0; t < threads; ++t) {
        const std::vector<int64_t> mine = blocks_of(part, t);
        all.insert(all.end(), mine.begin(), mine.end());
      }
      std::vector<int64_t> expected(static_cast<size_t>(blocks));
      std::iota(expected.begin(), expected.end(), 0);
      std::ranges::sort(all);
      EXPECT_EQ(all, expected) << blocks << " blocks, " << threads << " threads";
    }
  }
}

TEST(BlockPartition, CausalBlocksBalance) {
  const BlockPartition part = partition(12 * 64, 4);  // 12 heads of 64 row blocks, block i costs i + 1.
  std::vector<int64_t> cost;
  for (int t = 0; t < 4; ++t) {
    int64_t sum = 0;
    for (const int64_t block : blocks_of(part, t)) sum += block % 64 + 1;
    cost.push_back(sum);
  }
  const auto [least, most] = std::ranges::minmax(cost);
  EXPECT_LT(static_cast<double>(most - least), 0.01 * static_cast<double>(most));
}

/// Counts calls for each block in the array behind args->o; checks the scratch.
void count_blocks(const AttentionArgs* args, int64_t first, int64_t last, void* scratch) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch) % 64, 0u);
  auto* counts = static_cast<std::atomic<int>*>(args->o);
  static_cast<char*>(scratch)[999] = 1;
  for (int64_t block = first; block < last; ++block) ++counts[block];
}

LaunchRecord record_of() {
  LaunchRecord record;
  record.head_dim = record.value_dim = 64;
  record.block_rows = 16;
  record.scratch_bytes = 1000;
  return record;
}

AttentionArgs args_of(int64_t batch, int64_t heads, int64_t sq, int64_t sk, void* o) {
  AttentionArgs args;
  args.batch = batch, args.heads = heads, args.sq = sq, args.sk = sk, args.o = o;
  return args;
}

TEST(Launch, RunsEveryBlockOnceForAnyThreadCount) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const int64_t sq : {1, 15, 16, 17, 333}) {
      std::vector<std::atomic<int>> counts(static_cast<size_t>(6 * ((sq + 15) / 16)));
      launch(pool, count_blocks, args_of(2, 3, sq, 4096, counts.data()), record_of());
      for (const auto& count : counts) EXPECT_EQ(count, 1);
    }
  }
}

TEST(Launch, EmptyGridsRunNothing) {
  ThreadPool pool(2);
  for (const AttentionArgs& args : {args_of(0, INT64_MAX, INT64_MAX, 8, nullptr), args_of(2, 0, 8, 8, nullptr), args_of(2, 2, 0, 8, nullptr)}) {
    EXPECT_EQ(grid_blocks(args, record_of()), 0);
    launch(pool, count_blocks, args, record_of());
  }
}

thread_local bool on_caller = false;

void expect_caller(const AttentionArgs* args, int64_t, int64_t, void*) { *static_cast<std::atomic<int>*>(args->o) += on_caller ? 1 : 1000; }

TEST(Launch, SmallOnesStayOnTheCaller) {
  ThreadPool pool(4);
  std::atomic<int> calls = 0;
  on_caller = true;
  const AttentionArgs args = args_of(1, 2, 32, 32, &calls);
  ASSERT_LT(dense_flops(args, record_of()), kAloneFlops);
  launch(pool, expect_caller, args, record_of());
  EXPECT_EQ(calls, 1);
}

TEST(Launch, DenseFlopsSaturate) {
  EXPECT_EQ(dense_flops(args_of(1, 2, 3, 5, nullptr), record_of()), 2 * 128 * 2 * 3 * 5);
  EXPECT_EQ(dense_flops(args_of(1, INT64_MAX, 3, 5, nullptr), record_of()), INT64_MAX);
}

}  // namespace
}  // namespace heddle::runtime
