// Scratch buffers as the emitter sees them: columns of row vectors, and the transposes between tensors and them.
#pragma once
#include "src/codegen/llvm/ir_builder.h"

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

/// out[d, r] = factor * row(r)[d] for d < dims. Four dims of lanes() rows at a time through shuffles, the last dims % 4 one by one.
void pack_rows(IrBuilder& b, const Matrix& out, int64_t dims, Value* factor, llvm::function_ref<Value*(Value* row)> row_address);

/// row(r)[d] = scale[r] * in[d, r] for d < dims; `scale` (f32 per row) may be null. `row_address` returns where row r goes: a place of
/// its own or a sink of dims elements.
void unpack_rows(IrBuilder& b, const Matrix& in, int64_t dims, Value* scale, llvm::function_ref<Value*(Value* row)> row_address);

}  // namespace heddle::codegen
