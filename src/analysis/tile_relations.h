// Tiles of a mask on the plane: which have an allowed pair, and which have nothing else.
//
// isl sees the unbounded plane only, so its sets know no tile counts and serve the relation and the transposed one alike; the nests
// read off them are bounded afterwards.
#pragma once
#include <vector>
#include "src/analysis/facts.h"
#include "src/analysis/formula_sets.h"
#include "src/ir/loop_nest.h"

namespace heddle::analysis {

/// Pairwise disjoint pieces of { [row block, column block] }.
struct TileSets {
  std::vector<isl::basic_set> partial, full;
};

/// Tiles of shape.rows x shape.cols pairs (q x k).
TileSets tile_sets(const Plane& plane, TileShape shape);

/// Nests over the tiles of one block, disjoint.
struct TileNests {
  ir::LoopNest partial, full;
};

/// Bounds nests on the plane: tiles below `count` = ceil(length / tile), of which those below `whole` = floor(length / tile) lie inside
/// the length. A full tile that the end of the axis cuts becomes partial. Values of nests are a loop variable, or
/// c * outer + inner with 0 <= inner < c.
TileNests bounded_tiles(TileNests plane, const ir::Expr& count, const ir::Expr& whole);

/// Adds value <= last to every piece, by bounds of the loops.
void bound_values(ir::LoopNest& nest, const ir::Expr& last);

}  // namespace heddle::analysis
