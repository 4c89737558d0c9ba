// The register-tiled inner loops of Contract: a few output columns by all row vectors are accumulated in registers.
#pragma once
#include "src/codegen/llvm/matrix.h"

namespace heddle::codegen {

/// The scalar at an address, f32, or i32 that holds a pair of bfloat16. Called right before its products, so that the load becomes their
/// memory operand; loads that stand together take a register each and spill sums.
using LoadElement = llvm::function_ref<Value*(Value* address)>;

/// sums[r * vectors + i] + element r * lhs[index, vector i]; of pairs: plus both products of a pair and its partner in the vector
/// (AVX512_BF16: subnormal operands count as 0).
Values product_step(IrBuilder& b, const Matrix& lhs, Value* index, const Values& addresses, LoadElement load, Values sums);

/// The broadcast side of a micro-kernel: addresses at contraction index j, one a column, and what is read there.
struct Broadcasts {
  llvm::function_ref<Values(Value* index)> addresses;
  LoadElement load;
};

/// product_step over j < count, from `accumulators` on.
Values micro_kernel(IrBuilder& b, const char* name, const Matrix& lhs, Value* count, const Values& accumulators, const Broadcasts& broadcasts,
                    Trips trips);

/// Two f32 vectors rounded to bfloat16, as lanes of pairs (`first` in the lower half), for lhs of products.
Value* bfloat16_pairs(IrBuilder& b, Value* first, Value* second);

}  // namespace heddle::codegen
