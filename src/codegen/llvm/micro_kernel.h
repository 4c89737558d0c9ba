// The register-tiled inner loops of Contract: a few output columns by all row vectors are accumulated in registers.
#pragma once
#include "src/codegen/llvm/matrix.h"

namespace heddle::codegen {

/// The broadcast side of a micro-kernel at contraction index j: a scalar a column, f32, or i32 that holds a pair of bfloat16.
using BroadcastElements = llvm::function_ref<Values(Value* index)>;

/// sums[r * vectors + i] + element r * lhs[index, vector i]; of pairs: plus both products of a pair and its partner in the vector
/// (AVX512_BF16: subnormal operands count as 0).
Values product_step(IrBuilder& b, const Matrix& lhs, Value* index, const Values& elements, Values sums);

/// The same over j < count, from `accumulators` on.
Values micro_kernel(IrBuilder& b, const char* name, const Matrix& lhs, Value* count, const Values& accumulators, BroadcastElements elements,
                    Trips trips);

/// Two f32 vectors rounded to bfloat16, as lanes of pairs (`first` in the lower half), for lhs of products.
Value* bfloat16_pairs(IrBuilder& b, Value* first, Value* second);

}  // namespace heddle::codegen
