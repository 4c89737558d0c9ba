#include "src/analysis/components.h"
#include "src/analysis/affine_expr.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

/// One value at most: a lower bound is an upper one too.
bool is_single(const ir::Loop& loop) {
  for (const Expr& low : loop.lower) {
    for (const Expr& high : loop.upper) {
      if (ir::equal(low, high)) return true;
    }
  }
  return false;
}

AffineComponent component(const ir::NestPiece& piece) {
  const ir::Loop& loop = piece.loops[0];
  const Expr low = fold(Op::Max, loop.lower), high = fold(Op::Min, loop.upper);
  AffineComponent result{piece.guards, low, nullptr, 1};
  if (loop.stride > 1) {
    const Expr lift = ir::make(Op::Mod, {subtract(loop.offset, low), ir::int_const(loop.stride)});
    result.offset = ir::simplify(add(low, lift));
  }
  const Expr steps = floor_divide(subtract(high, result.offset), loop.stride);
  result.count = ir::simplify(add(steps, ir::int_const(1)));
  if (!is_single(loop)) result.stride = loop.stride;
  return result;
}

}  // namespace

std::vector<AffineComponent> affine_components(const ir::LoopNest& rows) {
  std::vector<AffineComponent> components;
  for (const ir::NestPiece& piece : rows.pieces) {
    if (piece.loops.size() == 1 && piece.inner.empty()) components.push_back(component(piece));
  }
  return components;
}

}  // namespace heddle::analysis
