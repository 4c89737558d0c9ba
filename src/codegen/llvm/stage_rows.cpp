// Rows of K or V that are not f32 in memory, widened into scratch: a step's products read them as f32.
#include <bit>

#include "src/codegen/llvm/body_emitter.h"
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

}  // namespace

void emit_stage_rows(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, const ir::StageRows& s) {
  const DType dtype = program.dtype;
  const int64_t width = program.buffers.at(static_cast<size_t>(s.out)).width;
  Value* first = operand_element(b, dtype, block.base.at(s.tensor), b.CreateMul(step.first_key, block.row_stride.at(s.tensor)));
  Value* staged = buffer_address(b, program, block, s.out);
  const KeyList keys = key_list(b, program, block, step, s.all_keys, s.live);
  b.loop("stage", b.constant(0), keys.count, 1, {}, [&](Value* j, llvm::ArrayRef<Value*>) {
    Value* offset = b.CreateAlignedLoad(b.getInt64Ty(), b.element(b.getInt64Ty(), keys.offsets, j), llvm::Align(8));
    Value *from = operand_element(b, dtype, first, offset), *to = b.element(b.getFloatTy(), staged, b.CreateMul(j, b.constant(width)));
    each_piece(b, width, [&](Value* dim, unsigned count) {
      Value* raw = load_raw(b, dtype, operand_element(b, dtype, from, dim), count);
      b.CreateAlignedStore(widened(b, dtype, raw), b.element(b.getFloatTy(), to, dim), llvm::Align(4));
    });
    return Values{};
  });
}

}  // namespace heddle::codegen
