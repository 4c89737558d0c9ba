// How a GPU kernel is launched: its grid, its block, and the one structure it takes as argument, field by field.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include "heddle/kernel_abi.h"

namespace heddle {

// X(Name): what a field of the argument holds. `index` is an axis of strides (0 batch, 1 head, 2 row), or the number of a table or parameter;
// `dimension` is one of a table.
#define HEDDLE_GPU_FIELDS(X)                                                              \
  X(Q) X(K) X(V) X(O) X(Lse) X(Batch) X(Heads) X(KvHeads) X(Sq) X(Sk)                     \
  X(QStride) X(KStride) X(VStride) X(OStride) X(ListOffsets) X(ListRuns) X(ListStride)    \
  X(TableData) X(TableLast) /* extent - 1 */ X(TableStride) X(IntParam) X(Scale) X(RealParam)

enum class GpuField : uint8_t {
#define X(name) name,
  HEDDLE_GPU_FIELDS(X)
#undef X
};

struct GpuArgument {
  GpuField field = GpuField::Q;
  int32_t index = 0, dimension = 0;
  bool operator==(const GpuArgument&) const = default;
};

/// Most heads, and most batches, of one launch: the limit of a grid's second and third axis.
inline constexpr int64_t kMaxGridHeads = 65535;

/// Blocks are (row block, head, batch): grid (ceil(sq / block_rows), heads, batch). Q, K, V and O must be aligned to 16 bytes, and their
/// strides be multiples of 16 bytes.
struct GpuLaunch {
  std::string symbol;
  int32_t threads = 128;            ///< Of a block.
  int64_t shared_bytes = 0;         ///< Dynamic shared memory of a block.
  int64_t block_rows = 64, tile_keys = 64;
  std::vector<GpuArgument> arguments;
  bool operator==(const GpuLaunch&) const = default;
};

/// The bytes of the kernel's argument: 8 a field; f32 fields (Scale, RealParam) in the first 4 of theirs. Pointers of `args` to tensors,
/// tables' data and lists are the device's, all others are read here.
std::vector<uint64_t> pack_arguments(const GpuLaunch& launch, const AttentionArgs& args);

}  // namespace heddle
