// The register-tiled inner loops of Contract: a few output columns by all row vectors are accumulated in registers.
#pragma once
#include "src/codegen/llvm/matrix.h"

namespace heddle::codegen {

/// The broadcast side of a micro-kernel: element (column r, contraction index j) as an address, for r = 0 .. columns - 1.
using BroadcastAddresses = llvm::function_ref<Values(Value* index, int columns)>;

/// accumulators[r * vectors + i] += sum over j < count of factor * broadcast(r, j) * lhs[j, vector i]. `factor` (f32) may be null.
Values micro_kernel(IrBuilder& b, const char* name, const Matrix& lhs, int columns, Value* count, Value* factor,
                    const Values& accumulators, BroadcastAddresses broadcast, Trips trips);

}  // namespace heddle::codegen
