// Reads of tables in emitted code: elements at scalar or vector indices, clamped into the table.
#pragma once
#include <map>
#include <string>
#include <vector>
#include "heddle/bind_program.h"
#include "src/codegen/llvm/ir_builder.h"
#include "src/ir/expr.h"

namespace heddle::codegen {

/// The tables of one launch in one function: pointers, extents and strides are loaded where this is made, so make it at the entry.
class TableReader {
 public:
  TableReader() = default;
  /// `args`: AttentionArgs::tables, in the order of the declarations.
  TableReader(IrBuilder& b, Value* tables, const std::vector<TableDeclaration>& declarations);

  /// The element at scalar indices (i64): an i64, or an f32 of Float32 tables.
  Value* element(IrBuilder& b, const ir::ExprNode& read, llvm::ArrayRef<Value*> indices) const;
  /// One element a lane; each index is an i64 or a vector of them. Integers have `width` bits, reals are f32.
  Value* elements(IrBuilder& b, const ir::ExprNode& read, llvm::ArrayRef<Value*> indices, unsigned width) const;

 private:
  struct Table {
    DType dtype = DType::Int32;
    Value* data = nullptr;
    std::vector<Value*> last, stride;  ///< i64: extent - 1 and stride of each dimension.
  };
  /// Offset in elements, a scalar or a vector as the indices are.
  static Value* offset(IrBuilder& b, const Table& table, llvm::ArrayRef<Value*> indices);

  std::map<std::string, Table> tables_;
};

}  // namespace heddle::codegen
