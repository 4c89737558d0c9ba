// Schedules a tile program for a CPU target: query rows in vector lanes, register tiles, passes over fragments, scratch memory.
//
// Before: ir::verify accepts the program; tile_rows is a multiple of the target's lanes. After: ir::verify accepts the result.
// Elementwise maps and reductions over one fragment become passes over its columns; a multiplication of a fragment by a Row moves into
// the Contract or Store that uses it; a maximum over a fresh Contract becomes its epilogue; maps of partial tiles run in partial steps
// only. Register tiles keep the rule columns * vectors + vectors + 1 <= registers (broadcast, row vectors and sums live together), but
// for those of one column: blocks of very many rows are right and spill.
#pragma once
#include "heddle/target.h"
#include "src/ir/scheduled_program.h"
#include "src/ir/tile_program.h"

namespace heddle::lower {

/// Throws InternalError for programs that need what this schedule does not have: rhs operands other than K and V, sums over dims that
/// start from a fragment.
ir::ScheduledProgram schedule_cpu(const ir::TileProgram& program, const Target& target);

}  // namespace heddle::lower
