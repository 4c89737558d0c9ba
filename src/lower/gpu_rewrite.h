// Rewrites of tile programs that GPU schedules need, on the level of the tile IR itself.
#pragma once
#include "src/ir/tile_program.h"

namespace heddle::lower {

/// In partial steps of every loop, keys at and beyond Sk are -inf before a maximum over keys sees them: the condition `k < Sk` joins the
/// masking map that feeds the maximum, or a masking map is added. The meaning of the program is the same.
void clip_keys(ir::TileProgram& program);

/// What the condition of a masking map is after clip_keys for a mask (null: every pair).
ir::Expr clipped(const ir::Expr& mask);

/// The condition of `c ? Arg(0) : -inf` in a map of partial tiles; null for other maps.
ir::Expr masking_condition(const ir::Map& map);

}  // namespace heddle::lower
