#include "runtime/split_launch.h"

#include <algorithm>
#include <array>

#include "runtime/dispatcher.h"
#include "runtime/merge.h"
#include "runtime/scratch.h"

namespace heddle::runtime {

namespace {

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// Partial results of all rows: O [parts, rows, value_dim], then LSE [parts, rows].
struct Workspace {
  float *o, *lse;

  Workspace(int64_t parts, int64_t rows, int64_t value_dim) {
    thread_local Scratch memory;
    const int64_t outputs = parts * rows * value_dim;
    o = static_cast<float*>(memory.reserve((outputs + parts * rows) * static_cast<int64_t>(sizeof(float))));
    lse = o + outputs;
  }
};

/// The rows of an AttentionArgs: (b, h, q) in order.
int64_t row_count(const AttentionArgs& args) { return args.batch * args.heads * args.sq; }

void point_at_results(SplitArgs& split, const AttentionArgs& args) {
  split.o = static_cast<float*>(args.o), split.lse = args.lse;
  std::copy_n(args.o_stride, 3, split.o_stride);
  const int64_t dense[] = {args.heads * args.sq, args.sq, 1};
  std::copy_n(dense, 3, split.lse_stride);
}

void point_at_workspace(SplitArgs& split, const AttentionArgs& args, const Workspace& space, int64_t value_dim) {
  split.o = space.o, split.lse = space.lse;
  const int64_t rows[] = {args.heads * args.sq, args.sq, 1, row_count(args)};
  for (size_t i = 0; i < std::size(rows); ++i) split.o_stride[i] = rows[i] * value_dim, split.lse_stride[i] = rows[i];
}

SplitArgs split_of(const AttentionArgs& args, const KeySplit& keys) {
  SplitArgs split;
  if (args.split) split = *args.split;
  split.parts = keys.parts, split.part_keys = keys.part_keys;
  return split;
}

/// Merges the rows of one batch and head.
void merge_head(const AttentionArgs& args, const SplitArgs& split, int64_t b, int64_t h, const LaunchRecord& record) {
  std::array<PartialRows, kSplitBlocks> parts;
  for (int64_t i = 0; i < split.parts; ++i) {
    const auto offset = [&](const int64_t* stride) { return b * stride[0] + h * stride[1] + i * stride[3]; };
    parts[static_cast<size_t>(i)] = {split.o + offset(split.o_stride), split.lse + offset(split.lse_stride), split.o_stride[2], split.lse_stride[2]};
  }
  float* lse = args.lse ? args.lse + (b * args.heads + h) * args.sq : nullptr;
  void* o = static_cast<char*>(args.o) + (b * args.o_stride[0] + h * args.o_stride[1]) * size_of(record.dtype);
  merge_partials({parts.data(), static_cast<size_t>(split.parts)}, args.sq, record.value_dim, {o, lse, args.o_stride[2], 1, record.dtype});
}

}  // namespace

KeySplit split_keys(int64_t blocks, int64_t keys, int64_t tile_keys) {
  const int64_t wanted = std::max<int64_t>(1, kSplitBlocks / std::max<int64_t>(1, blocks));
  const int64_t parts = std::clamp<int64_t>(keys / kLeastPartKeys, 1, wanted);
  const int64_t part_keys = ceil_div(ceil_div(std::max<int64_t>(keys, 1), parts), tile_keys) * tile_keys;
  return {ceil_div(std::max<int64_t>(keys, 1), part_keys), part_keys};
}

int64_t split_blocks(const AttentionArgs& args, const LaunchRecord& record) {
  if (args.batch == 0 || args.heads == 0 || args.sq == 0 || args.kv_heads == 0) return 0;
  return args.batch * args.kv_heads * args.sq * ceil_div(args.heads / args.kv_heads, record.block_rows);
}

void launch_split(ThreadPool& pool, AttentionKernel kernel, const AttentionArgs& args, const LaunchRecord& record) {
  AttentionArgs launched = args;
  if (args.kv_heads == 0) launched.kv_heads = args.heads;  // there is no key either
  const int64_t blocks = split_blocks(launched, record);
  if (blocks == 0) return;
  const KeySplit keys = split_keys(blocks, args.sk, record.tile_keys);
  SplitArgs split = split_of(args, keys);
  const bool merges = keys.parts > 1 || record.dtype != DType::Float32;  // parts are float32
  if (!merges) {
    point_at_results(split, args);
  } else {
    point_at_workspace(split, args, Workspace(keys.parts, row_count(args), record.value_dim), record.value_dim);
  }
  launched.split = &split;
  run_blocks(pool, kernel, launched, record, blocks * keys.parts);
  if (!merges) return;
  for (int64_t b = 0; b < args.batch; ++b) {
    for (int64_t h = 0; h < args.heads; ++h) merge_head(args, split, b, h, record);
  }
}

}  // namespace heddle::runtime
