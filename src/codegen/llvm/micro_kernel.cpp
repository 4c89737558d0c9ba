#include "src/codegen/llvm/micro_kernel.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace heddle::codegen {
namespace {

llvm::FixedVectorType* bfloat16s(IrBuilder& b) { return llvm::FixedVectorType::get(b.getBFloatTy(), 2 * static_cast<unsigned>(b.lanes())); }

Value* dot_product(IrBuilder& b, Value* x, Value* y, Value* sum) {
  return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {}, {sum, b.CreateBitCast(x, bfloat16s(b)), b.CreateBitCast(y, bfloat16s(b))});
}

}  // namespace

Values product_step(IrBuilder& b, const Matrix& lhs, Value* index, const Values& addresses, LoadElement load, Values sums) {
  const Values rows = lhs.load(b, index);
  const size_t vectors = rows.size();
  for (size_t r = 0; r < addresses.size(); ++r) {
    Value* element = load(addresses[r]);
    const bool pair = element->getType()->isIntegerTy();
    Value* splat = b.splat(element);
    for (size_t i = 0; i < vectors; ++i) {
      Value*& sum = sums[r * vectors + i];
      sum = pair ? dot_product(b, splat, rows[i], sum) : b.fma(splat, rows[i], sum);
    }
  }
  return sums;
}

Values micro_kernel(IrBuilder& b, const char* name, const Matrix& lhs, Value* count, const Values& accumulators, const Broadcasts& broadcasts,
                    Trips trips) {
  return b.loop(name, b.constant(0), count, 1, accumulators, [&](Value* index, llvm::ArrayRef<Value*> carried) {
    return product_step(b, lhs, index, broadcasts.addresses(index), broadcasts.load, Values(carried.begin(), carried.end()));
  }, trips);
}

Value* bfloat16_pairs(IrBuilder& b, Value* first, Value* second) {
  Value* apart = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {}, {second, first});
  llvm::SmallVector<int, 32> interleaved;
  for (int lane = 0; lane < b.lanes(); ++lane) interleaved.push_back(lane), interleaved.push_back(b.lanes() + lane);
  return b.CreateBitCast(b.CreateShuffleVector(apart, interleaved), b.f32s());
}

}  // namespace heddle::codegen
