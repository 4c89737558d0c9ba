// Schedules a tile program for a GPU: warps own rows, values get homes in registers, staged tiles places in shared memory.
//
// Before: ir::verify accepts the program; one tile of keys a step; tile_rows is a multiple of 16. After: ir::verify accepts the result.
// What it does: keys at and beyond Sk go to -inf in partial steps before they reach a maximum; factors of staged tiles move behind the
// product, where they are f32; sums of a running softmax stay in their lanes until the loop ends; fragments that have had their last
// reader give their registers on; K and V are staged twice where the target copies in the background.
#pragma once
#include "src/ir/gpu_program.h"

namespace heddle::lower {

/// Throws InternalError for programs that need what this schedule does not have: compressed rows, products of other operands than Q and
/// K or a fragment and V, keys left out by another predicate than the mask of the step.
ir::GpuProgram schedule_gpu(const ir::TileProgram& program, const GpuTarget& target, DType dtype);

}  // namespace heddle::lower
