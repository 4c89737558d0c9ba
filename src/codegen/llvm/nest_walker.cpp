#include "src/codegen/llvm/nest_walker.h"

#include "src/codegen/llvm/integer_ops.h"
#include "src/ir/rewrite.h"

namespace heddle::codegen {
namespace {

using ir::Expr;

/// True when the expression grows by one with the variable: variable + something without it.
bool grows_by_one(const Expr& expr, const std::string& variable) {
  if (expr->op == ir::Op::Var) return expr->name == variable;
  if (expr->op != ir::Op::Add && expr->op != ir::Op::Sub) return false;
  const Expr &left = expr->operands[0], &right = expr->operands[1];
  if (!ir::mentions(right, variable)) return grows_by_one(left, variable);
  return expr->op == ir::Op::Add && !ir::mentions(left, variable) && grows_by_one(right, variable);
}

}  // namespace

void NestWalker::walk(const ir::LoopNest& nest, const ScalarExpr& uniform) {
  for (const ir::NestPiece& piece : nest.pieces) {
    ScalarExpr scope = uniform;
    guarded(piece.guards, scope, [&](ScalarExpr& inside) { level(piece, 0, inside); });
  }
}

void NestWalker::guarded(const std::vector<Expr>& conditions, ScalarExpr& scope, llvm::function_ref<void(ScalarExpr&)> then) {
  if (conditions.empty()) return then(scope);
  Value* all = b_.getTrue();
  for (const Expr& condition : conditions) all = b_.CreateAnd(all, scope(condition));
  b_.when(all, [&] {
    ScalarExpr inside = scope;
    then(inside);
  });
}

NestWalker::Range NestWalker::bounds(const ir::Loop& loop, ScalarExpr& scope) {
  Value *low = scope(loop.lower[0]), *high = scope(loop.upper[0]);
  for (size_t i = 1; i < loop.lower.size(); ++i) low = b_.larger(low, scope(loop.lower[i]));
  for (size_t i = 1; i < loop.upper.size(); ++i) high = b_.smaller(high, scope(loop.upper[i]));
  if (loop.offset) {
    Value* missing = floor_modulo(b_, b_.CreateSub(scope(loop.offset), low), b_.constant(loop.stride), {loop.stride});
    low = b_.CreateAdd(low, missing);
  }
  return {low, b_.CreateAdd(high, b_.constant(1))};
}

void NestWalker::level(const ir::NestPiece& piece, size_t depth, ScalarExpr& scope) {
  if (depth == piece.loops.size()) {
    return guarded(piece.inner, scope, [&](ScalarExpr& inside) { visit(inside(piece.value)); });
  }
  const ir::Loop& loop = piece.loops[depth];
  const Range range = bounds(loop, scope);
  const bool innermost = depth + 1 == piece.loops.size();
  if (innermost && loop.stride == 1 && piece.inner.empty() && grows_by_one(piece.value, loop.variable)) {
    return runs(piece, loop, range, scope);
  }
  b_.loop("nest", range.first, range.end, loop.stride, {}, [&](Value* value, llvm::ArrayRef<Value*>) {
    ScalarExpr inside = scope;
    inside.define(loop.variable, value);
    level(piece, depth + 1, inside);
    return Values{};
  });
}

void NestWalker::visit(Value* tile) {
  if (!clip_) return call_(tile, b_.constant(1));
  Value* inside = b_.CreateAnd(b_.CreateICmpSGE(tile, clip_->first), b_.CreateICmpSLT(tile, clip_->end));
  b_.when(inside, [&] { call_(tile, b_.constant(1)); });
}

/// Adjacent tiles, as many a step as fit.
void NestWalker::runs(const ir::NestPiece& piece, const ir::Loop& loop, Range range, const ScalarExpr& scope) {
  if (clip_) {
    ScalarExpr at_zero = scope;
    at_zero.define(loop.variable, b_.constant(0));
    Value* shift = at_zero(piece.value);  // the value is the variable plus this
    range.first = b_.larger(range.first, b_.CreateSub(clip_->first, shift));
    range.end = b_.smaller(range.end, b_.CreateSub(clip_->end, shift));
  }
  b_.loop("nest", range.first, range.end, tiles_per_step_, {}, [&](Value* value, llvm::ArrayRef<Value*>) {
    ScalarExpr inside = scope;
    inside.define(loop.variable, value);
    call_(inside(piece.value), b_.smaller(b_.CreateSub(range.end, value), b_.constant(tiles_per_step_)));
    return Values{};
  });
}

}  // namespace heddle::codegen
