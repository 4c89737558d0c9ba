// Operands that products do not find in their form: rows of K or V widened to f32, or put together as pairs of keys, and rounded weights.
#include <algorithm>
#include <bit>

#include "src/codegen/llvm/body_emitter.h"
#include "src/codegen/llvm/micro_kernel.h"
#include "src/codegen/llvm/operand_types.h"

namespace heddle::codegen {
namespace {

constexpr int64_t kUnroll = 4;

/// Calls copy(first dim, count) for vectors that cover `dims` dims, powers of two at the end.
void each_piece(IrBuilder& b, int64_t dims, llvm::function_ref<void(Value* dim, unsigned count)> copy) {
  const int64_t lanes = b.lanes(), bundle = kUnroll * lanes;
  int64_t done = dims / bundle * bundle;
  if (done > 0) {
    b.loop("stage.dims", b.constant(0), b.constant(done), bundle, {}, [&](Value* dim, llvm::ArrayRef<Value*>) {
      for (int64_t i = 0; i < kUnroll; ++i) copy(b.CreateAdd(dim, b.constant(i * lanes)), static_cast<unsigned>(lanes));
      return Values{};
    }, Trips::AtLeastOne);
  }
  while (done < dims) {
    const int64_t count = std::min(lanes, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(dims - done))));
    copy(b.constant(done), static_cast<unsigned>(count));
    done += count;
  }
}

/// Calls pair(j) for j < count / 2, then last((count - 1) / 2) where count is odd.
void each_pair(IrBuilder& b, Value* count, llvm::function_ref<void(Value* j)> pair, llvm::function_ref<void(Value* j)> last) {
  Value* whole = b.CreateLShr(count, b.constant(1));
  b.loop("pairs", b.constant(0), whole, 1, {}, [&](Value* j, llvm::ArrayRef<Value*>) {
    pair(j);
    return Values{};
  });
  b.when(b.CreateTrunc(count, b.getInt1Ty()), [&] { last(whole); });
}

Value* twice(IrBuilder& b, Value* j, int64_t plus = 0) { return b.CreateAdd(b.CreateShl(j, b.constant(1)), b.constant(plus)); }

class RowStager {
 public:
  RowStager(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, const ir::StageRows& s)
      : b_(b), dtype_(program.dtype), width_(program.buffers.at(static_cast<size_t>(s.out)).width), staged_(buffer_address(b, program, block, s.out)),
        keys_(key_list(b, program, block, step, s.all_keys, s.live)),
        first_(operand_element(b, dtype_, block.base.at(s.tensor), b.CreateMul(step.first_key, block.row_stride.at(s.tensor)))) {}

  void widen() {
    b_.loop("stage", b_.constant(0), keys_.count, 1, {}, [&](Value* j, llvm::ArrayRef<Value*>) {
      Value *from = row(j), *to = place(j);
      each_piece(b_, width_, [&](Value* dim, unsigned count) { store(widened(b_, dtype_, load(from, dim, count)), to, dim); });
      return Values{};
    });
  }

  void pair() {
    each_pair(b_, keys_.count, [&](Value* j) {
      Value *low = row(twice(b_, j)), *high = row(twice(b_, j, 1)), *to = place(j);
      each_piece(b_, width_, [&](Value* dim, unsigned count) {
        Value* upper = b_.CreateShl(word(load(high, dim, count)), 16);
        store(b_.CreateOr(word(load(low, dim, count)), upper), to, dim);
      });
    }, [&](Value* j) {
      Value *low = row(twice(b_, j)), *to = place(j);
      each_piece(b_, width_, [&](Value* dim, unsigned count) { store(word(load(low, dim, count)), to, dim); });
    });
  }

 private:
  /// Row `j` of the list.
  Value* row(Value* j) {
    Value* offset = b_.CreateAlignedLoad(b_.getInt64Ty(), b_.element(b_.getInt64Ty(), keys_.offsets, j), llvm::Align(8));
    return operand_element(b_, dtype_, first_, offset);
  }
  Value* place(Value* j) { return b_.element(b_.getFloatTy(), staged_, b_.CreateMul(j, b_.constant(width_))); }
  Value* load(Value* row, Value* dim, unsigned count) { return load_raw(b_, dtype_, operand_element(b_, dtype_, row, dim), count); }
  Value* word(Value* raw) {
    const unsigned count = llvm::cast<llvm::FixedVectorType>(raw->getType())->getNumElements();
    return b_.CreateZExt(raw, llvm::FixedVectorType::get(b_.getInt32Ty(), count));
  }
  void store(Value* value, Value* to, Value* dim) { b_.CreateAlignedStore(value, b_.element(b_.getFloatTy(), to, dim), llvm::Align(4)); }

  IrBuilder& b_;
  DType dtype_;
  int64_t width_;
  Value* staged_;
  KeyList keys_;
  Value* first_;
};

}  // namespace

void emit_stage_rows(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, const ir::StageRows& s) {
  RowStager stager(b, program, block, step, s);
  if (program.buffers.at(static_cast<size_t>(s.out)).element == ir::Element::Pairs) {
    stager.pair();
  } else {
    stager.widen();
  }
}

void emit_round_pairs(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, const ir::RoundPairs& s) {
  const Matrix in = matrix(b, program, block, s.in), out = matrix(b, program, block, s.out);
  const auto store = [&](Value* j, const Values& first, const Values& second) {
    Values pairs;
    for (size_t i = 0; i < first.size(); ++i) pairs.push_back(bfloat16_pairs(b, first[i], second[i]));
    out.store(b, j, pairs);
  };
  const KeyList keys = key_list(b, program, block, step, ir::kNoBuffer, s.live);
  each_pair(b, keys.count, [&](Value* j) { store(j, in.load(b, twice(b, j)), in.load(b, twice(b, j, 1))); },
            [&](Value* j) { store(j, in.load(b, twice(b, j)), Values(static_cast<size_t>(in.vectors(b)), b.splat_real(0))); });
}

}  // namespace heddle::codegen
