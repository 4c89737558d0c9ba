// Scratch buffers as the emitter sees them: columns of row vectors, and the transposes between tensors and them.
#pragma once
#include "src/codegen/llvm/ir_builder.h"
#include "src/codegen/llvm/operand_types.h"

namespace heddle::codegen {

/// A Matrix or Row buffer: f32 [columns][rows], rows = vectors * lanes.
struct Matrix {
  Value* base;
  int64_t rows;

  Value* column(IrBuilder& b, Value* index) const {
    return b.element(b.getFloatTy(), base, b.CreateMul(index, b.constant(rows), "", true, true));
  }
  Value* vector_address(IrBuilder& b, Value* column_address, size_t vector) const {
    return b.element(b.getFloatTy(), column_address, static_cast<int64_t>(vector) * b.lanes());
  }
  /// The row vectors of one column.
  Values load(IrBuilder& b, Value* index) const;
  void store(IrBuilder& b, Value* index, const Values& value) const;
  int vectors(IrBuilder& b) const { return static_cast<int>(rows) / b.lanes(); }
};

/// A row of Q or O in memory: `dims` elements of `dtype`, at the address that `address` returns for a row of the block.
struct TensorRows {
  DType dtype;
  int64_t dims;
  llvm::function_ref<Value*(Value* row)> address;
};

/// out[d, r] = factor * row(r)[d]. Four dims of lanes() rows at a time through shuffles, the last dims % 4 one by one.
void pack_rows(IrBuilder& b, const Matrix& out, Value* factor, const TensorRows& rows);

/// out[j, r] = the pair of elements 2j and 2j + 1 (0 beyond the last) of row(r), as they are; elements of 16 bits.
void pack_pairs(IrBuilder& b, const Matrix& out, const TensorRows& rows);

/// row(r)[d] = scale[r] * in[d, r], rounded; `scale` (f32 per row) may be null. Rows go to a place of their own or to a sink of dims
/// elements.
void unpack_rows(IrBuilder& b, const Matrix& in, Value* scale, const TensorRows& rows);

}  // namespace heddle::codegen
