// Hands the blocks of one kernel launch to the threads of a pool: static chunks, no allocation, the same result for any thread count.
#pragma once
#include <cstdint>
#include "heddle/kernel_abi.h"
#include "runtime/thread_pool.h"

namespace heddle::runtime {

/// Chunks of adjacent blocks, dealt out back and forth: cycle 0 to threads 0, 1, ..., T - 1, cycle 1 to T - 1, ..., 0, and so on.
/// Where blocks grow steadily in cost (causal masks), two cycles together give every thread the same.
struct BlockPartition {
  int64_t blocks = 0, chunk = 1;
  int threads = 1;

  /// Chunk number `cycle` of a thread; at or past chunks() means the thread is done.
  int64_t chunk_of(int thread, int64_t cycle) const { return cycle * threads + (cycle % 2 ? threads - 1 - thread : thread); }
  int64_t chunks() const { return blocks / chunk + (blocks % chunk != 0); }
};

/// At least 64 chunks a thread when there are that many blocks, so that uneven blocks still balance.
BlockPartition partition(int64_t blocks, int threads);

/// Number of blocks of the launch: batch * heads * ceil(sq / block_rows). No overflow for arguments that describe real memory.
int64_t grid_blocks(const AttentionArgs& args, const LaunchRecord& record);

/// Upper bound of the floating-point operations of the launch, as if every pair took part; saturates.
int64_t dense_flops(const AttentionArgs& args, const LaunchRecord& record);

/// Launches below this many operations (about 40 us of one core) run on the caller alone: waking workers would cost more.
inline constexpr int64_t kAloneFlops = 4'000'000;

/// Runs blocks [0, blocks) of a kernel, whatever its grid is, and returns when they are done: on the caller alone where the launch is small.
void run_blocks(ThreadPool& pool, AttentionKernel kernel, const AttentionArgs& args, const LaunchRecord& record, int64_t blocks);

/// Runs the whole grid and returns when it is done. Exceptions: RuntimeError when scratch memory cannot be had.
void launch(ThreadPool& pool, AttentionKernel kernel, const AttentionArgs& args, const LaunchRecord& record);

}  // namespace heddle::runtime
