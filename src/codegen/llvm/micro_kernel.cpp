#include "src/codegen/llvm/micro_kernel.h"

namespace heddle::codegen {

Values micro_kernel(IrBuilder& b, const char* name, const Matrix& lhs, int columns, Value* count, Value* factor,
                    const Values& accumulators, BroadcastAddresses broadcast, Trips trips) {
  const auto vectors = static_cast<size_t>(lhs.vectors(b));
  return b.loop(name, b.constant(0), count, 1, accumulators, [&](Value* index, llvm::ArrayRef<Value*> carried) {
    Values sums(carried.begin(), carried.end());
    const Values rows = lhs.load(b, index), addresses = broadcast(index, columns);
    for (size_t r = 0; r < addresses.size(); ++r) {
      Value* element = b.CreateAlignedLoad(b.getFloatTy(), addresses[r], llvm::Align(4));
      Value* splat = b.splat(factor ? b.CreateFMul(element, factor) : element);
      for (size_t i = 0; i < vectors; ++i) sums[r * vectors + i] = b.fma(splat, rows[i], sums[r * vectors + i]);
    }
    return sums;
  }, trips);
}

}  // namespace heddle::codegen
