// Launches of kernels for few queries: the keys are split into parts by the shape alone, and the parts' results merged in fixed order.
#pragma once
#include <cstdint>
#include "heddle/kernel_abi.h"
#include "runtime/thread_pool.h"

namespace heddle::runtime {

/// How the keys of a launch are split.
struct KeySplit {
  int64_t parts = 1, part_keys = 0;
};

/// Parts of at least kLeastPartKeys keys, whole multiples of `tile_keys`, so many that the launch has about kSplitBlocks blocks.
/// `blocks`: of one part. Depends on the shape alone, never on threads.
inline constexpr int64_t kLeastPartKeys = 512, kSplitBlocks = 256;
KeySplit split_keys(int64_t blocks, int64_t keys, int64_t tile_keys);

/// Blocks of one part: batch * kv_heads * sq * ceil(heads / kv_heads / block_rows).
int64_t split_blocks(const AttentionArgs& args, const LaunchRecord& record);

/// Runs the launch and returns when the results are merged. args.split may be null, or give lengths and pages; its other fields are
/// made here. Allocates nothing once a caller has run a launch as large before.
void launch_split(ThreadPool& pool, AttentionKernel kernel, const AttentionArgs& args, const LaunchRecord& record);

}  // namespace heddle::runtime
