#include "src/codegen/llvm/matrix.h"

namespace heddle::codegen {
namespace {

constexpr int kGroup = 4;  ///< Columns a shuffle network transposes at a time: one 128-bit lane.

/// Interleaves elements (width 1) or pairs (width 2) of a and b within each 128-bit lane: unpcklps, unpckhps, unpcklpd, unpckhpd.
Value* unpack_lanes(IrBuilder& b, Value* x, Value* y, int width, bool high) {
  llvm::SmallVector<int, 16> mask;
  for (int lane = 0; lane < b.lanes(); ++lane) {
    const int element = lane % kGroup / width, source = (high ? kGroup / width / 2 : 0) + element / 2;
    mask.push_back(lane / kGroup * kGroup + source * width + lane % width + (element % 2 ? b.lanes() : 0));
  }
  return b.CreateShuffleVector(x, y, mask);
}

/// 4 x 4 transposes within the 128-bit lanes of four vectors; its own inverse.
Values transpose(IrBuilder& b, const Values& v) {
  Value *low0 = unpack_lanes(b, v[0], v[1], 1, false), *high0 = unpack_lanes(b, v[0], v[1], 1, true);
  Value *low1 = unpack_lanes(b, v[2], v[3], 1, false), *high1 = unpack_lanes(b, v[2], v[3], 1, true);
  return {unpack_lanes(b, low0, low1, 2, false), unpack_lanes(b, low0, low1, 2, true), unpack_lanes(b, high0, high1, 2, false),
          unpack_lanes(b, high0, high1, 2, true)};
}

Value* concatenate(IrBuilder& b, Values parts) {
  while (parts.size() > 1) {
    Values wider;
    for (size_t i = 0; i < parts.size(); i += 2) {
      const unsigned width = llvm::cast<llvm::FixedVectorType>(parts[i]->getType())->getNumElements();
      llvm::SmallVector<int, 16> mask;
      for (unsigned j = 0; j < 2 * width; ++j) mask.push_back(static_cast<int>(j));
      wider.push_back(b.CreateShuffleVector(parts[i], parts[i + 1], mask));
    }
    parts = wider;
  }
  return parts[0];
}

/// The addresses of lanes() rows from row `first`.
Values addresses(IrBuilder& b, Value* first, llvm::function_ref<Value*(Value*)> row_address) {
  Values result;
  for (int lane = 0; lane < b.lanes(); ++lane) result.push_back(row_address(b.CreateAdd(first, b.constant(lane))));
  return result;
}

/// Vector i of a group holds rows i, i + 4, i + 8, ... in its 128-bit lanes.
Value* load_group(IrBuilder& b, DType dtype, const Values& rows, size_t i, Value* dim) {
  Values parts;
  for (size_t row = i; row < rows.size(); row += kGroup) {
    parts.push_back(load_raw(b, dtype, operand_element(b, dtype, rows[row], dim), kGroup));
  }
  return widened(b, dtype, concatenate(b, parts));
}

void store_group(IrBuilder& b, DType dtype, Value* vector, const Values& rows, size_t i, Value* dim) {
  Value* raw = rounded(b, dtype, vector);
  for (size_t row = i; row < rows.size(); row += kGroup) {
    const int first = static_cast<int>(row - i);
    Value* part = b.CreateShuffleVector(raw, {first, first + 1, first + 2, first + 3});
    store_raw(b, dtype, part, operand_element(b, dtype, rows[row], dim));
  }
}

/// Columns [0, count) of out, four at a time. `load` gives vector i of a group, `finish` what is stored of a column.
void pack_groups(IrBuilder& b, const Matrix& out, int64_t count, llvm::function_ref<Value*(Value*)> row_address,
                 llvm::function_ref<Value*(const Values& rows, size_t i, Value* column)> load, llvm::function_ref<Value*(Value*)> finish) {
  b.loop("pack", b.constant(0), b.constant(out.rows), b.lanes(), {}, [&](Value* first, llvm::ArrayRef<Value*>) {
    const Values rows = addresses(b, first, row_address);
    b.loop("pack.dims", b.constant(0), b.constant(count), kGroup, {}, [&](Value* column, llvm::ArrayRef<Value*>) {
      Values group;
      for (size_t i = 0; i < kGroup; ++i) group.push_back(load(rows, i, column));
      group = transpose(b, group);
      for (int j = 0; j < kGroup; ++j) {
        Value* address = out.column(b, b.CreateAdd(column, b.constant(j)));
        b.store_vector(finish(group[static_cast<size_t>(j)]), b.element(b.getFloatTy(), address, first));
      }
      return Values{};
    }, Trips::AtLeastOne);
    return Values{};
  }, Trips::AtLeastOne);
}

void unpack_groups(IrBuilder& b, const Matrix& in, int64_t dims, Value* scale, const TensorRows& to) {
  b.loop("unpack", b.constant(0), b.constant(in.rows), b.lanes(), {}, [&](Value* first, llvm::ArrayRef<Value*>) {
    const Values rows = addresses(b, first, to.address);
    Value* factors = scale ? b.load_vector(b.element(b.getFloatTy(), scale, first)) : nullptr;
    b.loop("unpack.dims", b.constant(0), b.constant(dims), kGroup, {}, [&](Value* dim, llvm::ArrayRef<Value*>) {
      Values group;
      for (int j = 0; j < kGroup; ++j) {
        Value* column = in.column(b, b.CreateAdd(dim, b.constant(j)));
        Value* value = b.load_vector(b.element(b.getFloatTy(), column, first));
        group.push_back(factors ? b.CreateFMul(value, factors) : value);
      }
      group = transpose(b, group);
      for (size_t i = 0; i < kGroup; ++i) store_group(b, to.dtype, group[i], rows, i, dim);
      return Values{};
    }, Trips::AtLeastOne);
    return Values{};
  }, Trips::AtLeastOne);
}

/// Calls make(row, dim, address of the matrix element) for every row and the dims in [first, dims).
void each_element(IrBuilder& b, const Matrix& matrix, int64_t first, int64_t dims,
                  llvm::function_ref<void(Value* row, Value* dim, Value* element)> make) {
  b.loop("tail", b.constant(0), b.constant(matrix.rows), 1, {}, [&](Value* row, llvm::ArrayRef<Value*>) {
    b.loop("tail.dims", b.constant(first), b.constant(dims), 1, {}, [&](Value* dim, llvm::ArrayRef<Value*>) {
      make(row, dim, b.element(b.getFloatTy(), matrix.column(b, dim), row));
      return Values{};
    }, Trips::AtLeastOne);
    return Values{};
  }, Trips::AtLeastOne);
}

}  // namespace

Values Matrix::load(IrBuilder& b, Value* index) const {
  Value* address = column(b, index);
  Values result;
  for (size_t i = 0; i < static_cast<size_t>(vectors(b)); ++i) result.push_back(b.load_vector(vector_address(b, address, i)));
  return result;
}

void Matrix::store(IrBuilder& b, Value* index, const Values& value) const {
  Value* address = column(b, index);
  for (size_t i = 0; i < value.size(); ++i) b.store_vector(value[i], vector_address(b, address, i));
}

void pack_rows(IrBuilder& b, const Matrix& out, Value* factor, const TensorRows& from) {
  const int64_t grouped = from.dims / kGroup * kGroup;
  if (grouped > 0) {
    pack_groups(b, out, grouped, from.address, [&](const Values& rows, size_t i, Value* dim) { return load_group(b, from.dtype, rows, i, dim); },
                [&](Value* column) { return b.CreateFMul(column, b.splat(factor)); });
  }
  if (grouped == from.dims) return;
  each_element(b, out, grouped, from.dims, [&](Value* row, Value* dim, Value* element) {
    Value* raw = load_raw(b, from.dtype, operand_element(b, from.dtype, from.address(row), dim), 0);
    b.CreateAlignedStore(b.CreateFMul(widened(b, from.dtype, raw), factor), element, llvm::Align(4));
  });
}

void pack_pairs(IrBuilder& b, const Matrix& out, const TensorRows& from) {
  const int64_t pairs = from.dims / 2, grouped = pairs / kGroup * kGroup;
  const auto address = [&](Value* row, Value* pair) { return operand_element(b, from.dtype, row, b.CreateMul(pair, b.constant(2))); };
  const auto load = [&](llvm::Type* type, Value* at) { return b.CreateAlignedLoad(type, at, llvm::Align(static_cast<uint64_t>(size_of(from.dtype)))); };
  if (grouped > 0) {
    auto* four = llvm::FixedVectorType::get(b.getFloatTy(), kGroup);
    const auto group = [&](const Values& rows, size_t i, Value* pair) {
      Values parts;
      for (size_t row = i; row < rows.size(); row += kGroup) parts.push_back(load(four, address(rows[row], pair)));
      return concatenate(b, parts);
    };
    pack_groups(b, out, grouped, from.address, group, [](Value* column) { return column; });
  }
  const auto single = [&](int64_t first, int64_t end, llvm::Type* type) {
    each_element(b, out, first, end, [&](Value* row, Value* pair, Value* element) {
      Value* bits = b.CreateZExt(load(type, address(from.address(row), pair)), b.getInt32Ty());
      b.CreateAlignedStore(bits, element, llvm::Align(4));
    });
  };
  if (grouped < pairs) single(grouped, pairs, b.getInt32Ty());
  if (from.dims % 2 != 0) single(pairs, pairs + 1, b.getInt16Ty());
}

void unpack_rows(IrBuilder& b, const Matrix& in, Value* scale, const TensorRows& to) {
  const int64_t grouped = to.dims / kGroup * kGroup;
  if (grouped > 0) unpack_groups(b, in, grouped, scale, to);
  if (grouped == to.dims) return;
  each_element(b, in, grouped, to.dims, [&](Value* row, Value* dim, Value* element) {
    Value* value = b.CreateAlignedLoad(b.getFloatTy(), element, llvm::Align(4));
    if (scale) value = b.CreateFMul(value, b.CreateAlignedLoad(b.getFloatTy(), b.element(b.getFloatTy(), scale, row), llvm::Align(4)));
    store_raw(b, to.dtype, rounded(b, to.dtype, value), operand_element(b, to.dtype, to.address(row), dim));
  });
}

}  // namespace heddle::codegen
