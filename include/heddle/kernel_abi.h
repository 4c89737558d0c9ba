// The border between compiler and runtime: argument blocks, kernel signature and the LaunchRecord stored with each kernel.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include "heddle/bind_program.h"

namespace heddle {

/// A table of one launch as the kernel reads it: element (i0, i1, ...) lies at data + i0 * stride[0] + i1 * stride[1] + ..., strides in
/// elements. Every index is clamped into [0, extent - 1]; extents are at least 1.
struct TableArg {
  const void* data = nullptr;
  int64_t extent[kMaxTableRank] = {1, 1, 1, 1};
  int64_t stride[kMaxTableRank] = {};
};

/// Adjacent key tiles of one class: first tile, and their number with the sign of the class (positive: full, negative: partial).
struct TileRun {
  int32_t first = 0, count = 0;
  bool operator==(const TileRun&) const = default;
};

/// What kernels for few queries (LaunchRecord::split) read beside AttentionArgs: the keys are split into `parts` parts of part_keys keys
/// (a multiple of the record's tile_keys), and part i of row (b, h, q) stores its normalised O and natural-log LSE at
/// o + b * o_stride[0] + h * o_stride[1] + q * o_stride[2] + i * o_stride[3], and likewise lse. A part without keys stores 0 and -inf.
struct SplitArgs {
  float* o = nullptr;
  float* lse = nullptr;                  ///< Null: not stored.
  int64_t o_stride[4] = {};
  int64_t lse_stride[4] = {};
  int64_t parts = 1, part_keys = 0;
  const int64_t* lengths = nullptr;      ///< [batch]: keys of each batch, Sk of its formulas; null: sk everywhere.
  const int32_t* pages = nullptr;        ///< Page table, or null. With one, k and v are [pages, kv_heads, page_keys, dim]: key j of batch b is
  int64_t pages_stride = 0;              ///< row j % page_keys of page pages[b * pages_stride + j / page_keys], and the first stride
  int64_t page_keys = 0;                 ///< of k and v is that of pages.
};

/// Arguments of one attention launch, read by the kernel through a pointer. All strides are in elements; the last
/// dimension of q, k, v, o is contiguous, and their elements are of LaunchRecord::dtype. Every field is at a fixed offset (static_asserts in runtime/kernel_abi.cpp).
struct AttentionArgs {
  const void* q = nullptr;  ///< [batch, heads, sq, head_dim]
  const void* k = nullptr;  ///< [batch, kv_heads, sk, head_dim]
  const void* v = nullptr;  ///< [batch, kv_heads, sk, value_dim]
  void* o = nullptr;        ///< [batch, heads, sq, value_dim]
  float* lse = nullptr;     ///< [batch, heads, sq] dense, or null when the kernel was compiled without LSE.
  int64_t batch = 0, heads = 0, kv_heads = 0, sq = 0, sk = 0;
  int64_t q_stride[3] = {};  ///< batch, head, row
  int64_t k_stride[3] = {};
  int64_t v_stride[3] = {};
  int64_t o_stride[3] = {};
  const int64_t* int_params = nullptr;   ///< Values of LaunchRecord::int_params, in that order.
  const double* real_params = nullptr;   ///< Values of LaunchRecord::real_params, in that order.
  double scale = 1.0;                    ///< Softmax scale: s = scale * <q, k>.
  const TableArg* tables = nullptr;      ///< LaunchRecord::tables, in that order.
  const int64_t* list_offsets = nullptr; ///< Tile lists, for kernels with a bind program: runs of row block qb of batch b, head h are
  const TileRun* list_runs = nullptr;    ///< [offsets[i], offsets[i + 1]), i = b * list_stride[0] + h * list_stride[1] + qb.
  int64_t list_stride[2] = {};
  float* values = nullptr;               ///< Compressed probabilities [batch, heads, sq, values_width], for kernels that keep them; else null.
  int64_t values_stride[3] = {};         ///< batch, head, row
  int64_t values_width = 0;
  const SplitArgs* split = nullptr;      ///< For kernels of few queries; the dispatcher makes one where it is null.
};

/// A part of compressed rows: row q keeps keys offset, offset + stride, ..., `count` of them, one slot behind the other. The texts are
/// formulas over q, b, h, the sizes and LaunchRecord::int_params.
struct RowProgression {
  std::string offset, count;
  int64_t stride = 1;
  bool operator==(const RowProgression&) const = default;
};

/// A CPU kernel: computes row blocks [first_block, last_block) of the grid. Blocks are independent of each other:
/// block index = (b * heads + h) * row_blocks + qb; of split kernels (((b * kv_heads + kv_head) * parts + part) * sq + q) * row_blocks + i,
/// whose rows are block_rows query heads of the KV head. `scratch` is this thread's own buffer of
/// LaunchRecord::scratch_bytes bytes, 64-byte aligned; contents need not be initialised.
using AttentionKernel = void (*)(const AttentionArgs* args, int64_t first_block, int64_t last_block, void* scratch);

/// Everything the runtime must know to launch a stored kernel without any compiler or IR.
struct LaunchRecord {
  static constexpr uint32_t kVersion = 5;
  std::string symbol;           ///< Name of the AttentionKernel in the object.
  std::string target;           ///< Target::to_string().
  DType dtype = DType::Float32; ///< Of q, k, v and o: Float32, BFloat16 or Float16.
  int64_t head_dim = 0, value_dim = 0;
  int64_t block_rows = 0;       ///< Query rows of one block; the grid is batch * heads * ceil(sq / block_rows) unless split.
  int64_t scratch_bytes = 0;    ///< Per thread.
  int64_t max_positions = 0;    ///< Largest sq and sk this kernel may be launched with.
  bool lse = false;
  bool probabilities = false;                        ///< The kernel keeps them in AttentionArgs::values, in rows of these parts:
  std::vector<RowProgression> row_progressions;
  std::vector<std::string> int_params, real_params;  ///< Dynamic parameters in argument order.
  std::vector<TableDeclaration> tables;              ///< In argument order (sorted by name).
  BindProgram bind;             ///< Not empty when the kernel visits lists of tiles, of tile_keys keys each.
  int64_t tile_keys = 0;        ///< Keys of a tile.
  bool split = false;           ///< For few queries: a block is one query of one KV head and a part of the keys (SplitArgs).
  std::string summary;          ///< One line on what was compiled, for `heddle cache list`.
  std::string facts;            ///< Facts and plan as text, so that a hit can report without analysis.
  std::string plan;

  int64_t row_blocks(int64_t sq) const { return block_rows ? (sq + block_rows - 1) / block_rows : 0; }
  bool operator==(const LaunchRecord&) const = default;
};

/// Length-prefixed binary form with kVersion at the front.
std::string serialize(const LaunchRecord& record);
/// Returns false (and leaves `record` unspecified) on a short, malformed or differently versioned text; never throws.
bool deserialize(std::string_view bytes, LaunchRecord& record);

}  // namespace heddle
