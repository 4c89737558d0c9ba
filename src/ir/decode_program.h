// Scheduled program of a CPU kernel for few queries: lanes, register tiles and scratch memory of attention that streams K and V once.
//
// A block is one batch, KV head, query q, part of the keys, and up to block_rows query heads of the KV head: its rows. Its result is
// normalised over the part: O and natural-log LSE, which the runtime merges. Statements of a block, in order:
//   q[r, d] = scale * factor * Q; o = 0; maximum = -FLT_MAX; sum = 0
//   for every pass, for steps of up to step_keys adjacent keys of the pass' tiles inside the part, full or partial:
//     k_rows, v_rows: element offsets of the step's rows, through the page table where there is one; next_rows: of the step_keys keys
//     behind the step. While scores are made V rows are prefetched, and while O is made the next rows of K: memory never rests. Rows are
//     fetched from kFetchStreams places of the step in turn, so that the processor follows as many pages side by side
//     p[r, n] = <q[r], K row n>    dims in lanes, row_tile x 4 keys of accumulators, sums transposed so that keys lie in lanes
//     p = score(p); in partial steps -inf where the mask (or the end of the keys) forbids       keys in lanes
//     maximum, factor, sum as in a running softmax; p = exp2(p - maximum)
//     o[r] = factor[r] * o[r] + sum_n p[r, n] * V row n    dims in lanes, value_rows x value_vectors accumulators; in partial steps
//                                                          over the live keys of each row alone, so that masked V never counts
//   O = o / sum; LSE = log(2) * (maximum + log2(sum)); 0 and -inf where sum is 0
// Scores reach the softmax in units of log2: without a score formula `factor` is log2(e), with one it is 1 and the formula's result
// is multiplied.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>
#include "heddle/bind_program.h"
#include "heddle/target.h"
#include "src/ir/expr.h"
#include "src/ir/loop_nest.h"
#include "src/ir/tile_program.h"

namespace heddle::ir {

// Scratch buffers: Queries, Output f32 [block_rows][padded dims]; Scores f32 [block_rows][step_keys]; Maximum, Factor f32 [block_rows];
// Sum f32 [block_rows][lanes]; QuadSums f32 [row_tile][lanes / 4][lanes]; KeyRows, NextRows, ValueRows, Live, Every i64 [step_keys]; Frame i64.
#define HEDDLE_DECODE_BUFFERS(X) \
  X(Queries) X(Output) X(Scores) X(Maximum) X(Factor) X(Sum) X(QuadSums) X(KeyRows) X(NextRows) X(ValueRows) X(Live) X(Every) X(Frame)
enum class DecodeBuffer {
#define HEDDLE_DECODE_BUFFER(name) name,
  HEDDLE_DECODE_BUFFERS(HEDDLE_DECODE_BUFFER)
#undef HEDDLE_DECODE_BUFFER
};
#define HEDDLE_DECODE_COUNT(name) +1
inline constexpr size_t kDecodeBuffers = HEDDLE_DECODE_BUFFERS(HEDDLE_DECODE_COUNT);
#undef HEDDLE_DECODE_COUNT

/// Bytes from the start of scratch; multiples of 64.
struct BufferRange { int64_t offset = 0, bytes = 0; };

/// Key tiles of one pass. Nest: tiles of one query row (TileShape {1, tile_keys}). Tested: every step is classed by the mask.
struct DecodePass {
  Expr mask;  ///< Null: every pair. Passes have disjoint masks.
  LoopSource source = LoopSource::Nest;
  LoopNest full, partial;
};

struct DecodeProgram {
  static constexpr int kFrameSlots = 16, kKeyTile = 4, kFetchStreams = 4;

  std::string name;
  Target target;
  DType dtype = DType::Float32;  ///< Of Q, K and V in memory.
  int64_t head_dim = 64, value_dim = 64;
  int64_t block_rows = 16, tile_keys = 16, step_keys = 64;
  int row_tile = 4, value_rows = 2, value_vectors = 8;  ///< Register tiles; keys of a score tile: kKeyTile.
  Expr score;                                           ///< Real over `s`; null: s itself.
  std::vector<DecodePass> passes;
  std::vector<std::string> int_params, real_params;
  std::vector<TableDeclaration> tables;
  std::array<BufferRange, kDecodeBuffers> buffers;
  int64_t scratch_bytes = 0;

  int lanes() const { return target.lanes(); }
  int64_t padded(int64_t dims) const { return (dims + lanes() - 1) / lanes() * lanes(); }
  const BufferRange& buffer(DecodeBuffer id) const { return buffers.at(static_cast<size_t>(id)); }
  /// Bytes that a buffer needs.
  int64_t needed(DecodeBuffer id) const;
};

std::string print(const DecodeProgram& program);

/// Checks: tiles are whole vectors and steps whole tiles; register tiles keep to the register file; buffers are aligned, large enough
/// and disjoint; masks are Bool, scores Real; nests only where used, and no pass of nests reads what differs between rows (h).
/// Throws InternalError naming the rule.
void verify(const DecodeProgram& program);

}  // namespace heddle::ir
