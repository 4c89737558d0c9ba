#include "src/codegen/llvm/compressed_rows.h"

#include <cfloat>
#include <cstddef>
#include <limits>
#include <numbers>

#include "heddle/kernel_abi.h"

namespace heddle::codegen {
namespace {

/// Where the values of the block's rows are.
class ValueRows {
 public:
  ValueRows(IrBuilder& b, BlockContext& block) : b_(b) {
    ArgumentReader args(b, block.args);
    const auto stride = [&](size_t axis) { return args.integer(offsetof(AttentionArgs, values_stride) + axis * sizeof(int64_t)); };
    Value* offset = b.CreateAdd(b.CreateMul(block.name("b"), stride(0)), b.CreateMul(block.name("h"), stride(1)));
    row_stride_ = stride(2);
    offset = b.CreateAdd(offset, b.CreateMul(block.rows.first_row, row_stride_));
    base_ = b.element(b.getFloatTy(), args.pointer(offsetof(AttentionArgs, values)), offset);
    existing_ = b.smaller(b.CreateSub(block.name("Sq"), block.rows.first_row), b.constant(int64_t{block.rows.vectors} * b.lanes()));
  }

  Value* existing() const { return existing_; }  ///< Rows of the block below Sq: at least one.
  Value* row(Value* r) const { return b_.element(b_.getFloatTy(), base_, b_.CreateMul(r, row_stride_)); }
  /// The row, or the last existing one.
  Value* clamped(Value* r) const { return b_.smaller(r, b_.CreateSub(existing_, b_.constant(1))); }
  /// Addresses of a slot in each row of row vector `i`; rows at and beyond Sq repeat the last one.
  Value* addresses(size_t i, Value* slots) const {
    Value* rows = b_.smaller(numbers(i), b_.splat(b_.CreateSub(existing_, b_.constant(1))));
    return b_.CreateGEP(b_.getFloatTy(), base_, b_.CreateAdd(b_.CreateMul(rows, b_.splat(row_stride_)), slots));
  }
  Value* exists(size_t i) const { return b_.CreateICmpSLT(numbers(i), b_.splat(existing_)); }

 private:
  Value* numbers(size_t i) const { return b_.CreateAdd(b_.lane_numbers(64), b_.splat_int(static_cast<int64_t>(i) * b_.lanes(), 64)); }

  IrBuilder& b_;
  Value *base_, *row_stride_, *existing_;
};

/// The pairs of a step that have a slot, visited by tiles in full steps and by keys in partial ones.
class StepPairs {
 public:
  StepPairs(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, VectorMath& math,
            ir::BufferId slots, const ir::Expr& slot, const ir::Expr& allowed)
      : b_(b), program_(program), block_(block), step_(step), expr_(b, math, block.uniform, block.reals, block.rows),
        first_slots_(buffer_address(b, program, block, slots)), slot_(slot), allowed_(allowed) {
    expr_.hoist(slot);
    if (allowed) expr_.hoist(allowed);
  }

  using TileVisit = llvm::function_ref<void(Value* first_column)>;
  /// `row_slot` then gives the slot of the tile's first key.
  void full_tiles(TileVisit visit) {
    b_.loop("tile", b_.constant(0), step_.keys, program_.tile_keys, {}, [&](Value* column, llvm::ArrayRef<Value*>) {
      expr_.begin_column(b_.CreateAdd(step_.first_key, column));
      const Values slots = expr_.index(slot_);
      for (size_t i = 0; i < slots.size(); ++i) {
        Value* place = b_.element(b_.getInt64Ty(), first_slots_, static_cast<int64_t>(i) * b_.lanes());
        b_.CreateAlignedStore(slots[i], place, llvm::Align(8));
      }
      visit(column);
      return Values{};
    }, Trips::AtLeastOne);
  }
  Value* row_slot(Value* row) {
    return b_.CreateAlignedLoad(b_.getInt64Ty(), b_.element(b_.getInt64Ty(), first_slots_, row), llvm::Align(8));
  }

  using PairVisit = llvm::function_ref<void(Value* column, const Values& slots, const Values& allowed)>;
  void keys(PairVisit visit) {
    b_.loop("pairs", b_.constant(0), step_.keys, 1, {}, [&](Value* column, llvm::ArrayRef<Value*>) {
      expr_.begin_column(b_.CreateAdd(step_.first_key, column));
      const Values slots = expr_.index(slot_);
      visit(column, slots, allowed_ ? expr_.predicate(allowed_) : Values(slots.size(), everywhere()));
      return Values{};
    }, Trips::AtLeastOne);
  }
  void each_class(llvm::function_ref<void()> partial, llvm::function_ref<void()> full) {
    b_.either(step_.partial, [&] { partial(); return Values{}; }, [&] { full(); return Values{}; });
  }

 private:
  Value* everywhere() { return llvm::ConstantInt::getTrue(b_.ints(1)); }

  IrBuilder& b_;
  const ir::ScheduledProgram& program_;
  BlockContext& block_;
  StepContext& step_;
  VectorExpr expr_;
  Value* first_slots_;
  const ir::Expr &slot_, &allowed_;
};

/// Columns of a matrix from `first` on.
Matrix columns_from(IrBuilder& b, const Matrix& matrix, Value* first) { return {matrix.column(b, first), matrix.rows}; }

/// The softmax of one row, lanes() values at a time; lanes at and beyond `count` take no part.
class RowSoftmax {
 public:
  RowSoftmax(IrBuilder& b, VectorMath& math, Value* row, Value* count) : b_(b), math_(math), row_(row), count_(count) {}

  /// Leaves probabilities and returns the LSE.
  Value* run() {
    Value *top = maximum(), *sum = exponentials(top);
    Value* empty = b_.CreateFCmpOEQ(sum, real(0));
    scale(b_.CreateSelect(empty, real(0), b_.CreateFDiv(real(1), sum)));
    Value* log = b_.CreateExtractElement(math_.log2(b_.splat(sum)), uint64_t{0});
    Value* natural = b_.CreateFMul(b_.CreateFAdd(top, log), real(std::numbers::ln2));
    return b_.CreateSelect(empty, real(-std::numeric_limits<double>::infinity()), natural);
  }
  /// Zeroes the slots in [count, width).
  void clear(Value* width) {
    b_.loop("clear", count_, width, b_.lanes(), {}, [&](Value* i, llvm::ArrayRef<Value*>) {
      store(b_.splat_real(0), i, inside(i, width));
      return Values{};
    });
  }

 private:
  Value* real(double value) { return llvm::ConstantFP::get(b_.getFloatTy(), value); }
  Value* inside(Value* first, Value* end) {
    return b_.CreateICmpSLT(b_.CreateAdd(b_.splat(first), b_.lane_numbers(64)), b_.splat(end));
  }
  Value* load(Value* i, Value* mask, double otherwise) {
    return b_.CreateMaskedLoad(b_.f32s(), b_.element(b_.getFloatTy(), row_, i), llvm::Align(4), mask, b_.splat_real(otherwise));
  }
  void store(Value* values, Value* i, Value* mask) {
    b_.CreateMaskedStore(values, b_.element(b_.getFloatTy(), row_, i), llvm::Align(4), mask);
  }
  Value* maximum() {
    const Values top = b_.loop("top", b_.constant(0), count_, b_.lanes(), {b_.splat_real(-FLT_MAX)}, [&](Value* i, llvm::ArrayRef<Value*> m) {
      return Values{b_.maximum(load(i, inside(i, count_), -FLT_MAX), m[0])};
    });
    llvm::CallInst* largest = b_.CreateFPMaxReduce(top[0]);
    largest->setHasNoNaNs(true);  // see IrBuilder::maximum
    return largest;
  }
  Value* exponentials(Value* top) {
    Value* all = b_.splat(top);
    const Values sum = b_.loop("exp", b_.constant(0), count_, b_.lanes(), {b_.splat_real(0)}, [&](Value* i, llvm::ArrayRef<Value*> before) {
      Value* mask = inside(i, count_);
      Value* p = math_.exp2(b_.CreateFSub(load(i, mask, -std::numeric_limits<double>::infinity()), all));
      store(p, i, mask);
      return Values{b_.CreateFAdd(before[0], b_.CreateSelect(mask, p, b_.splat_real(0)))};
    });
    llvm::CallInst* total = b_.CreateFAddReduce(real(-0.0), sum[0]);
    total->setHasAllowReassoc(true);
    return total;
  }
  void scale(Value* factor) {
    Value* factors = b_.splat(factor);
    b_.loop("scale", b_.constant(0), count_, b_.lanes(), {}, [&](Value* i, llvm::ArrayRef<Value*>) {
      Value* mask = inside(i, count_);
      store(b_.CreateFMul(load(i, mask, 0), factors), i, mask);
      return Values{};
    });
  }

  IrBuilder& b_;
  VectorMath& math_;
  Value *row_, *count_;
};

}  // namespace

void store_columns(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, VectorMath& math,
                   const ir::StoreColumns& s) {
  const ValueRows rows(b, block);
  const Matrix in = matrix(b, program, block, s.in);
  Value* sink = buffer_address(b, program, block, program.sink);
  StepPairs pairs(b, program, block, step, math, s.slots, s.slot, s.allowed);
  pairs.each_class([&] {
    pairs.keys([&](Value* column, const Values& slots, const Values& allowed) {
      const Values value = in.load(b, column);
      for (size_t i = 0; i < slots.size(); ++i) {
        b.CreateMaskedScatter(value[i], rows.addresses(i, slots[i]), llvm::Align(4), b.CreateAnd(allowed[i], rows.exists(i)));
      }
    });
  }, [&] {
    pairs.full_tiles([&](Value* column) {
      unpack_rows(b, columns_from(b, in, column), nullptr, {DType::Float32, program.tile_keys, [&](Value* r) {
        Value* place = b.element(b.getFloatTy(), rows.row(r), pairs.row_slot(r));
        return b.CreateSelect(b.CreateICmpSLT(r, rows.existing()), place, sink);
      }});
    });
  });
}

void load_columns(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, VectorMath& math,
                  const ir::LoadColumns& s) {
  const ValueRows rows(b, block);
  const Matrix out = matrix(b, program, block, s.out);
  Value* one = llvm::ConstantFP::get(b.getFloatTy(), 1);
  StepPairs pairs(b, program, block, step, math, s.slots, s.slot, s.allowed);
  pairs.each_class([&] {
    pairs.keys([&](Value* column, const Values& slots, const Values& allowed) {
      Values value;
      for (size_t i = 0; i < slots.size(); ++i) {
        value.push_back(b.CreateMaskedGather(b.f32s(), rows.addresses(i, slots[i]), llvm::Align(4), allowed[i], b.splat_real(0)));
      }
      out.store(b, column, value);
    });
  }, [&] {
    pairs.full_tiles([&](Value* column) {
      pack_rows(b, columns_from(b, out, column), one, {DType::Float32, program.tile_keys, [&](Value* r) {
        return b.element(b.getFloatTy(), rows.row(rows.clamped(r)), pairs.row_slot(r));
      }});
    });
  });
}

void softmax_rows(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, VectorMath& math, const ir::SoftmaxRows& s) {
  const ValueRows rows(b, block);
  Value* lse = buffer_address(b, program, block, s.lse);
  Value* width = ArgumentReader(b, block.args).integer(offsetof(AttentionArgs, values_width));
  b.loop("softmax", b.constant(0), rows.existing(), 1, {}, [&](Value* r, llvm::ArrayRef<Value*>) {
    ScalarExpr here = block.uniform;
    here.define("q", b.CreateAdd(block.rows.first_row, r));
    RowSoftmax row(b, math, rows.row(r), here(s.count));
    b.CreateAlignedStore(row.run(), b.element(b.getFloatTy(), lse, r), llvm::Align(4));
    row.clear(width);
    return Values{};
  }, Trips::AtLeastOne);
}

}  // namespace heddle::codegen
