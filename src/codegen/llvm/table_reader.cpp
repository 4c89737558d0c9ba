#include "src/codegen/llvm/table_reader.h"

#include <cstddef>

#include "heddle/error.h"
#include "heddle/kernel_abi.h"

namespace heddle::codegen {
namespace {

llvm::Type* element_type(IrBuilder& b, DType dtype) {
  switch (dtype) {
    case DType::Int32: return b.getInt32Ty();
    case DType::Int64: return b.getInt64Ty();
    case DType::Bool: case DType::UInt8: return b.getInt8Ty();
    case DType::Float32: return b.getFloatTy();
    default: throw InternalError("llvm emitter", "a table of " + to_string(dtype));
  }
}

/// An element, or a vector of them, as formulas see it.
Value* converted(IrBuilder& b, DType dtype, Value* element, llvm::Type* type) {
  if (dtype == DType::Float32) return element;
  if (dtype == DType::Bool) element = b.CreateICmpNE(element, llvm::Constant::getNullValue(element->getType()));
  return dtype == DType::Int32 || dtype == DType::Int64 ? b.CreateSExtOrTrunc(element, type) : b.CreateZExt(element, type);
}

}  // namespace

TableReader::TableReader(IrBuilder& b, Value* tables, const std::vector<TableDeclaration>& declarations) {
  for (size_t i = 0; i < declarations.size(); ++i) {
    const size_t base = i * sizeof(TableArg);
    const auto load = [&](size_t at, llvm::Type* type) {
      return b.CreateAlignedLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), tables, base + at), llvm::Align(8));
    };
    Table& table = tables_[declarations[i].name];
    table.dtype = declarations[i].dtype;
    table.data = load(offsetof(TableArg, data), b.getPtrTy());
    for (size_t d = 0; d < static_cast<size_t>(declarations[i].rank); ++d) {
      table.last.push_back(b.CreateSub(load(offsetof(TableArg, extent) + 8 * d, b.getInt64Ty()), b.constant(1)));
      table.stride.push_back(load(offsetof(TableArg, stride) + 8 * d, b.getInt64Ty()));
    }
  }
}

Value* TableReader::offset(IrBuilder& b, const Table& table, llvm::ArrayRef<Value*> indices) {
  Value *scalars = nullptr, *vectors = nullptr;
  for (size_t d = 0; d < indices.size(); ++d) {
    const bool vector = indices[d]->getType()->isVectorTy();
    const auto spread = [&](Value* scalar) { return vector ? b.splat(scalar) : scalar; };
    Value* raised = b.larger(indices[d], llvm::Constant::getNullValue(indices[d]->getType()));
    Value* part = b.CreateMul(b.smaller(raised, spread(table.last[d])), spread(table.stride[d]));
    Value*& sum = vector ? vectors : scalars;
    sum = sum ? b.CreateAdd(sum, part) : part;
  }
  if (!vectors) return scalars;
  return scalars ? b.CreateAdd(vectors, b.splat(scalars)) : vectors;
}

Value* TableReader::element(IrBuilder& b, const ir::ExprNode& read, llvm::ArrayRef<Value*> indices) const {
  const Table& table = tables_.at(read.name);
  llvm::Type* type = element_type(b, table.dtype);
  Value* address = b.element(type, table.data, offset(b, table, indices));
  Value* loaded = b.CreateAlignedLoad(type, address, llvm::Align(type->getPrimitiveSizeInBits() / 8));
  return converted(b, table.dtype, loaded, b.getInt64Ty());
}

Value* TableReader::elements(IrBuilder& b, const ir::ExprNode& read, llvm::ArrayRef<Value*> indices, unsigned width) const {
  const Table& table = tables_.at(read.name);
  llvm::Type* type = element_type(b, table.dtype);
  Value* addresses = b.element(type, table.data, offset(b, table, indices));
  auto* vector = llvm::FixedVectorType::get(type, static_cast<unsigned>(b.lanes()));
  Value* loaded = b.CreateMaskedGather(vector, addresses, llvm::Align(type->getPrimitiveSizeInBits() / 8));
  return converted(b, table.dtype, loaded, b.ints(width));
}

}  // namespace heddle::codegen
