#include "src/codegen/llvm/key_loop.h"

#include <cstddef>

#include "heddle/kernel_abi.h"
#include "src/codegen/llvm/nest_walker.h"

namespace heddle::codegen {
namespace {

class KeyLoopEmitter {
 public:
  KeyLoopEmitter(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, VectorMath& math,
                 const ir::KeyLoopSchedule& loop, StepCall step)
      : b_(b), program_(program), block_(block), math_(math), loop_(loop), step_(step) {}

  void nest(const ir::LoopNest& nest, bool partial) {
    auto run = [&](Value* first, Value* tiles) { call(first, tiles, b_.getInt1(partial)); };
    NestWalker(b_, loop_.tiles_per_step, run).walk(nest, block_.uniform);
  }

  /// The runs that the bind step listed for this row block.
  void listed() {
    ArgumentReader args(b_, block_.args);
    Value* strides[] = {args.integer(offsetof(AttentionArgs, list_stride)), args.integer(offsetof(AttentionArgs, list_stride) + 8)};
    Value* list = b_.CreateAdd(b_.CreateMul(block_.name("b"), strides[0]), b_.CreateMul(block_.name("h"), strides[1]));
    list = b_.CreateAdd(list, block_.name("qb"));
    Value *offsets = args.pointer(offsetof(AttentionArgs, list_offsets)), *runs = args.pointer(offsetof(AttentionArgs, list_runs));
    const auto bound = [&](Value* at) {
      return b_.CreateAlignedLoad(b_.getInt64Ty(), b_.element(b_.getInt64Ty(), offsets, at), llvm::Align(8));
    };
    b_.loop("list", bound(list), bound(b_.CreateAdd(list, b_.constant(1))), 1, {}, [&](Value* entry, llvm::ArrayRef<Value*>) {
      Value* run = b_.element(b_.getInt32Ty(), runs, b_.CreateMul(entry, b_.constant(sizeof(TileRun) / sizeof(int32_t))));
      run_of_tiles(list_field(run, 0), list_field(run, 1));
      return Values{};
    });
  }

  /// Runs of adjacent tiles of one class, up to a step long: carried are the run's first tile, its length and its class.
  void tested() {
    const Values none(3, b_.constant(0));
    const Values last = b_.loop("tiles", b_.constant(0), block_.name("NK"), 1, none, [&](Value* tile, llvm::ArrayRef<Value*> run) {
      Value *first = run[0], *length = run[1], *kind = run[2], *next = classify(tile);
      Value* ends = b_.CreateOr(b_.CreateICmpNE(next, kind), b_.CreateICmpEQ(length, b_.constant(loop_.tiles_per_step)));
      Value *open = b_.CreateICmpNE(length, b_.constant(0)), *flush = b_.CreateAnd(open, ends);
      b_.when(flush, [&] { call(first, length, b_.CreateICmpEQ(kind, b_.constant(kPartial))); });
      Value* fresh = b_.CreateOr(flush, b_.CreateNot(open));
      Value* grown = b_.CreateAdd(b_.CreateSelect(fresh, b_.constant(0), length), b_.constant(1));
      Value* skipped = b_.CreateICmpEQ(next, b_.constant(kSkipped));
      return Values{b_.CreateSelect(fresh, tile, first), b_.CreateSelect(skipped, b_.constant(0), grown), next};
    });
    b_.when(b_.CreateICmpNE(last[1], b_.constant(0)), [&] {
      call(last[0], last[1], b_.CreateICmpEQ(last[2], b_.constant(kPartial)));
    });
  }

 private:
  Value* list_field(Value* run, int64_t field) {
    Value* address = b_.element(b_.getInt32Ty(), run, field);
    return b_.CreateSExt(b_.CreateAlignedLoad(b_.getInt32Ty(), address, llvm::Align(4)), b_.getInt64Ty());
  }

  /// Tiles [first, first + |count|), partial ones where the count is negative, as many a step as fit.
  void run_of_tiles(Value* first, Value* count) {
    Value *partial = b_.CreateICmpSLT(count, b_.constant(0)), *size = b_.CreateSelect(partial, b_.CreateNeg(count), count);
    b_.loop("run", b_.constant(0), size, loop_.tiles_per_step, {}, [&](Value* done, llvm::ArrayRef<Value*>) {
      call(b_.CreateAdd(first, done), b_.smaller(b_.CreateSub(size, done), b_.constant(loop_.tiles_per_step)), partial);
      return Values{};
    });
  }

  enum TileClass : int64_t { kSkipped, kPartial, kFull };

  void call(Value* tile, Value* tiles, Value* partial) {
    Value* first_key = b_.CreateMul(tile, b_.constant(program_.tile_keys));
    Value* keys = b_.CreateMul(tiles, b_.constant(program_.tile_keys));
    step_(first_key, b_.smaller(keys, b_.CreateSub(block_.name("Sk"), first_key)), partial);
  }

  Value* classify(Value* tile) {
    VectorExpr expr(b_, math_, block_.uniform, block_.reals, block_.rows);
    expr.hoist(loop_.predicate);
    Value *first = b_.CreateMul(tile, b_.constant(program_.tile_keys)), *left = b_.CreateSub(block_.name("Sk"), first);
    Value *keys = b_.smaller(left, b_.constant(program_.tile_keys)), *whole = b_.CreateICmpEQ(keys, b_.constant(program_.tile_keys));
    const Values found = b_.loop("test", b_.constant(0), keys, 1, {b_.getFalse(), b_.getTrue()},
                                 [&](Value* n, llvm::ArrayRef<Value*> carried) {
      expr.begin_column(b_.CreateAdd(first, n));
      Value *any = nullptr, *all = nullptr;
      for (Value* vector : expr.predicate(loop_.predicate)) {
        any = any ? b_.CreateOr(any, vector) : vector;
        all = all ? b_.CreateAnd(all, vector) : vector;
      }
      return Values{b_.CreateOr(carried[0], b_.CreateOrReduce(any)), b_.CreateAnd(carried[1], b_.CreateAndReduce(all))};
    }, Trips::AtLeastOne);
    Value* full = b_.CreateSelect(b_.CreateAnd(found[1], whole), b_.constant(kFull), b_.constant(kPartial));
    return b_.CreateSelect(found[0], full, b_.constant(kSkipped));
  }

  IrBuilder& b_;
  const ir::ScheduledProgram& program_;
  BlockContext& block_;
  VectorMath& math_;
  const ir::KeyLoopSchedule& loop_;
  StepCall step_;
};

}  // namespace

void emit_key_loop(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, VectorMath& math,
                   const ir::KeyLoopSchedule& loop, StepCall step) {
  KeyLoopEmitter emitter(b, program, block, math, loop, step);
  if (loop.source == ir::LoopSource::Tested) {
    emitter.tested();
  } else if (loop.source == ir::LoopSource::Listed) {
    emitter.listed();
  } else {
    emitter.nest(loop.full, false);
    emitter.nest(loop.partial, true);
  }
}

}  // namespace heddle::codegen
