// The bind step: from the contents of tables to the lists of key tiles that each row block of a kernel visits.
//
// Method: interval evaluation of the mask over a row block and a range of key tiles, bisected until it is certain (false: no tile, true:
// full tiles) or one tile wide; tiles that are still open are evaluated pair by pair, in vectors. The range of a table over a range of
// indices comes from a pyramid of minima and maxima, so a bind costs O(elements + tiles * log) where tables are sorted or blocky.
// Listed tiles are those with an allowed pair, and full where all pairs are allowed. Only when more than BindInput::most_pairs would
// have to be looked at (2^33: unsorted tables of some 100,000 tokens) the rest is listed as partial unseen.
#pragma once
#include <cstdint>
#include <vector>
#include "heddle/bind_program.h"
#include "heddle/kernel_abi.h"
#include "runtime/thread_pool.h"

namespace heddle::runtime {

/// What a bind needs besides the program. `tables` are in the order of LaunchRecord::tables, checked by the caller: dtype, rank, and a
/// dimension that a formula indexes by a plain variable has that variable's size, or 1, or is at least as long where others index it too.
/// Indices are clamped into [0, extent - 1]; a read of a table with an extent of 0 gives 0. Any strides, 0 and negative too.
struct BindInput {
  const BindProgram* program = nullptr;
  std::vector<Tensor> tables;
  std::vector<int64_t> int_params;
  int64_t batch = 1, heads = 1, kv_heads = 1, sq = 0, sk = 0;
  int64_t tile_rows = 64, tile_keys = 16;
  int64_t most_pairs = int64_t{1} << 33;  ///< Looked at one by one, at about 0.2 ns.
  int64_t most_ranges = int64_t{1} << 62; ///< Of keys and row blocks that are evaluated, at about 0.1 us; what is left is listed unseen too.
};

/// Lists of a bound mask: CSR over row blocks. Row blocks of batch b and head h start at
/// (b * batch_stride + h * head_stride) in `offsets`; strides are 0 where the mask does not depend on b or h.
struct TileLists {
  std::vector<int64_t> offsets;   ///< Row blocks + 1 entries; block i has entries [offsets[i], offsets[i + 1]).
  std::vector<TileRun> runs;      ///< Ascending, disjoint runs of adjacent key tiles of one class.
  int64_t batch_stride = 0, head_stride = 0;
  int64_t full_tiles = 0, partial_tiles = 0;   ///< Sums over all lists.
  int64_t bytes() const { return static_cast<int64_t>(offsets.size() * sizeof(int64_t) + runs.size() * sizeof(TileRun)); }
};

/// Row blocks are spread over the pool in a static partition; the result does not depend on the thread count.
TileLists bind_tiles(const BindInput& input, ThreadPool& pool);

}  // namespace heddle::runtime
