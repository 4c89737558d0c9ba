#include "src/analysis/tile_relations.h"
#include <fmt/format.h>
#include "src/analysis/affine_expr.h"
#include "src/analysis/linear_expr.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using Side = std::vector<Expr> ir::Loop::*;

/// Bounds the value of a piece from one side.
void bound(ir::NestPiece& piece, Side side, const Expr& value) {
  ir::Loop& outer = piece.loops.front();
  if (piece.loops.size() == 1) return (outer.*side).push_back(value);
  const int64_t lines = linear(piece.value, outer.variable).value().coefficient;
  (outer.*side).push_back(floor_divide(value, lines));
  (piece.loops.back().*side).push_back(subtract(value, multiply(ir::var(outer.variable), lines)));
}

/// Only the tile number `tile`, where it is below `count`.
ir::NestPiece only(ir::NestPiece piece, const Expr& tile, const Expr& count) {
  piece.guards.push_back(ir::make(ir::Op::Lt, {tile, count}));
  bound(piece, &ir::Loop::lower, tile);
  bound(piece, &ir::Loop::upper, tile);
  return piece;
}

}  // namespace

TileSets tile_sets(const Plane& plane, TileShape shape) {
  const isl::map tiling(plane.domain.ctx(), fmt::format("{{ [q, k] -> [i, j] : {0} i <= q < {0} i + {0} and {1} j <= k < {1} j + {1} }}",
                                                        shape.rows, shape.cols));
  const isl::set nonempty = coalesce(plane.allowed.apply(tiling)), not_full = coalesce(plane.masked.apply(tiling));
  return {disjoint_pieces(coalesce(nonempty.intersect(not_full))), disjoint_pieces(coalesce(nonempty.subtract(not_full)))};
}

void bound_values(ir::LoopNest& nest, const Expr& last) {
  for (ir::NestPiece& piece : nest.pieces) bound(piece, &ir::Loop::upper, last);
}

TileNests bounded_tiles(TileNests plane, const Expr& count, const Expr& whole) {
  const Expr one = ir::int_const(1);
  bound_values(plane.partial, subtract(count, one));
  for (const ir::NestPiece& piece : plane.full.pieces) plane.partial.pieces.push_back(only(piece, whole, count));
  bound_values(plane.full, subtract(whole, one));
  return plane;
}

}  // namespace heddle::analysis
