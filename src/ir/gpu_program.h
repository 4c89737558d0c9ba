// Scheduled program of a GPU kernel: a tile program whose values have homes in registers and whose staged tiles lie in shared memory.
//
// A block computes tile_rows query rows of one head with `warps` warps; each warp owns 16 of the rows. Blocks are (row block, head, batch).
//  - Rows and fragments live in register arrays, spread over the lanes of a warp as `layout` says. Several values may share a register
//    array: each statement may overwrite the home of an input that nothing reads later.
//  - Tiles are staged in shared memory as rows of `row_bytes`; K and V have `stages` buffers, filled while earlier tiles are computed.
//  - A lane-partial value is the lane's own part of a sum; what leaves the loop is summed over the lanes of a row (`reduced`).
// Key loops visit one tile of tile_keys keys a step. In partial steps keys at and beyond Sk exist too: the schedule has put them at -inf
// before they reach a maximum, an exponential or a product. Rows at and beyond Sq repeat row Sq - 1 in expressions and are not stored.
// Staged elements have the tensor's dtype, unscaled: factors of a Stage are in `factor` of the Mma that contracts it. Operands of an Mma
// over keys are rounded to the dtype.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>
#include "heddle/tensor.h"
#include "src/ir/tile_program.h"
#include "src/support/gpu_target.h"

namespace heddle::ir {

/// What multiplies matrices. MmaSync: PTX mma.sync m16n8k16. Mfma: v_mfma 16x16x16 on S^T = K Q^T. Fma: plain multiply-adds of f32.
enum class MatrixUnit { MmaSync, Mfma, Fma };

/// How a fragment of 16 rows lies over the lanes of a warp: element j of chunk n is at (row of index row_of[j], column
/// n * chunk + column(lane) + column_of[j]).
struct FragmentLayout {
  int lanes = 32;
  int rows = 2;                       ///< Rows of one lane.
  int row_step = 8;                   ///< Row i of a lane is its first row + i * row_step.
  int chunk = 8;                      ///< Columns of a chunk.
  std::vector<int> row_of, column_of; ///< By element of a chunk.
  std::vector<int> row_lanes;         ///< Exclusive-or masks that visit the lanes holding the same rows.
  std::vector<int> column_lanes;      ///< The same of lanes holding the same columns.
  int elements() const { return static_cast<int>(row_of.size()); }
};
FragmentLayout fragment_layout(MatrixUnit unit);

/// A staged tile in shared memory: `stages` buffers of (rows + slack) * row_bytes bytes from `offset` on. Swizzled: the 16-byte chunk c of row r lies
/// at chunk c ^ (r % 8); otherwise rows are padded by 16 bytes.
struct SharedTile {
  ValueId value = kNoValue;
  TensorId tensor = TensorId::K;
  int64_t rows = 64, dims = 64;
  int stages = 1;
  int64_t row_bytes = 128, offset = 0;
  bool swizzled = true;
  int64_t slack = 0;  ///< Rows behind the tile's own, which the threads of a block may fill too when they share its chunks unevenly.
  int64_t bytes() const { return (rows + slack) * row_bytes; }
};

struct RegisterArray {
  std::string name;
  ValueKind kind = ValueKind::Row;
  Extent columns = Extent::One;
  bool carried = false;   ///< Lives longer than a step.
};

/// The softmax scale and a constant, by which a product is multiplied.
struct MmaFactor {
  bool softmax_scale = false;
  double factor = 1.0;
  bool none() const { return !softmax_scale && factor == 1.0; }
};

struct GpuProgram {
  TileProgram tile;                       ///< Statements and values.
  GpuTarget target;
  DType dtype = DType::Float16;           ///< Of Q, K, V and O.
  MatrixUnit unit = MatrixUnit::MmaSync;
  FragmentLayout layout;
  int warps = 4;
  std::vector<SharedTile> tiles;
  SharedTile results;                     ///< MmaSync: where rows of O gather before they are stored; the place of Q when it has the same shape.
  int64_t shared_bytes = 0;
  std::vector<RegisterArray> registers;
  std::map<ValueId, int> home;            ///< Register array of each Row and Fragment.
  std::map<ValueId, MmaFactor> factor;    ///< By the out value of an Mma.
  std::map<ValueId, bool> partial_sum;    ///< Lane-partial values.
  bool has_mask_bits = false;             ///< Some Mma leaves keys out (Mma::live).

  int threads() const { return warps * layout.lanes; }
  const SharedTile& staged(ValueId value) const;
  int64_t columns(Extent extent) const;   ///< Of a fragment.
};

std::string print(const GpuProgram& program);

/// Checks: warps own all rows; every Row and Fragment has a home of its kind and width; a home is never overwritten while a value in it is
/// read later; staged tiles are aligned, disjoint and inside the target's shared memory. Throws InternalError naming the rule.
void verify(const GpuProgram& program);

}  // namespace heddle::ir
