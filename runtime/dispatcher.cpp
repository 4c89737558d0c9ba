#include "runtime/dispatcher.h"
#include <algorithm>
#include <limits>
#include "runtime/scratch.h"
#include "runtime/split_launch.h"

namespace heddle::runtime {

namespace {

constexpr int64_t kChunksPerThread = 64;

void run_part(const BlockPartition& part, int thread, AttentionKernel kernel, const AttentionArgs& args, void* scratch) {
  for (int64_t cycle = 0; cycle * part.threads < part.chunks(); ++cycle) {
    const int64_t chunk = part.chunk_of(thread, cycle);
    if (chunk >= part.chunks()) continue;
    const int64_t first = chunk * part.chunk;
    kernel(&args, first, std::min(part.blocks, first + part.chunk), scratch);
  }
}

/// Small launches of several callers run at the same time, each with the scratch of its own thread.
void run_alone(AttentionKernel kernel, const AttentionArgs& args, int64_t blocks, int64_t scratch_bytes) {
  thread_local Scratch scratch;
  kernel(&args, 0, blocks, scratch.reserve(scratch_bytes));
}

}  // namespace

BlockPartition partition(int64_t blocks, int threads) {
  return {blocks, std::max<int64_t>(1, blocks / (kChunksPerThread * threads)), threads};
}

int64_t grid_blocks(const AttentionArgs& args, const LaunchRecord& record) {
  if (args.batch == 0 || args.heads == 0 || args.sq == 0) return 0;
  return args.batch * args.heads * record.row_blocks(args.sq);
}

int64_t dense_flops(const AttentionArgs& args, const LaunchRecord& record) {
  int64_t flops = 2 * (record.head_dim + record.value_dim);
  bool overflow = false;
  for (const int64_t factor : {args.batch, args.heads, args.sq, args.sk}) overflow |= __builtin_mul_overflow(flops, factor, &flops);
  return overflow ? std::numeric_limits<int64_t>::max() : flops;
}

void run_blocks(ThreadPool& pool, AttentionKernel kernel, const AttentionArgs& args, const LaunchRecord& record, int64_t blocks) {
  if (blocks == 0) return;
  if (blocks == 1 || pool.threads() == 1 || dense_flops(args, record) < kAloneFlops) {
    return run_alone(kernel, args, blocks, record.scratch_bytes);
  }
  const BlockPartition part = partition(blocks, pool.threads());
  pool.run([&](int thread) { run_part(part, thread, kernel, args, pool.scratch(thread, record.scratch_bytes)); });
}

void launch(ThreadPool& pool, AttentionKernel kernel, const AttentionArgs& args, const LaunchRecord& record) {
  if (record.split) return launch_split(pool, kernel, args, record);
  run_blocks(pool, kernel, args, record, grid_blocks(args, record));
}

}  // namespace heddle::runtime
