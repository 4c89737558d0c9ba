// Emits the loops of a nest: runs of adjacent key tiles, as many at a time as one step takes.
#pragma once
#include <optional>
#include <vector>
#include "src/codegen/llvm/scalar_expr.h"
#include "src/ir/loop_nest.h"

namespace heddle::codegen {

/// Called where `tiles` adjacent tiles from tile `first` are visited.
using TileRunCall = llvm::function_ref<void(Value* first, Value* tiles)>;

/// Tiles outside of [first, end) are not visited.
struct TileRange { Value *first, *end; };

class NestWalker {
 public:
  NestWalker(IrBuilder& b, int64_t tiles_per_step, TileRunCall call, std::optional<TileRange> clip = {})
      : b_(b), tiles_per_step_(tiles_per_step), call_(call), clip_(clip) {}

  /// `uniform` knows every free name of the nest.
  void walk(const ir::LoopNest& nest, const ScalarExpr& uniform);

 private:
  struct Range { Value *first, *end; };
  void guarded(const std::vector<ir::Expr>& conditions, ScalarExpr& scope, llvm::function_ref<void(ScalarExpr&)> then);
  Range bounds(const ir::Loop& loop, ScalarExpr& scope);
  void level(const ir::NestPiece& piece, size_t depth, ScalarExpr& scope);
  void runs(const ir::NestPiece& piece, const ir::Loop& loop, Range range, const ScalarExpr& scope);
  void visit(Value* tile);

  IrBuilder& b_;
  int64_t tiles_per_step_;
  TileRunCall call_;
  std::optional<TileRange> clip_;
};

}  // namespace heddle::codegen
