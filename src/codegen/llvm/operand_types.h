// Elements of Q, K, V and O as they lie in memory: loads that widen to f32 and stores that round, as IR without library calls.
//
// bfloat16 and, where the target has no conversions, float16 are converted by integer operations. Widening is exact; rounding is to
// nearest, ties to even, subnormals included, and NaN stays NaN.
#pragma once
#include "heddle/tensor.h"
#include "src/codegen/llvm/ir_builder.h"

namespace heddle::codegen {

/// f32, or an integer of 16 bits that holds an element of `dtype`.
llvm::Type* memory_type(IrBuilder& b, DType dtype);

/// Address of element `index` of an array of `dtype`.
Value* operand_element(IrBuilder& b, DType dtype, Value* base, Value* index);

/// `count` adjacent elements as they are in memory: a vector, or a scalar for a count of 0.
Value* load_raw(IrBuilder& b, DType dtype, Value* address, unsigned count);
void store_raw(IrBuilder& b, DType dtype, Value* raw, Value* address);

/// Scalars or vectors, f32 from raw elements and back.
Value* widened(IrBuilder& b, DType dtype, Value* raw);
Value* rounded(IrBuilder& b, DType dtype, Value* real);

/// lanes() elements from `address` as f32, of which the first `count` are read and the others are 0.
Value* load_operands(IrBuilder& b, DType dtype, Value* address, int64_t count);

}  // namespace heddle::codegen
