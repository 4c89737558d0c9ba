// The frame of a step: where its rows of K and V are, scores with dims in lanes, and the order of the rest.
#include <cstddef>

#include "heddle/kernel_abi.h"
#include "src/codegen/llvm/decode_block.h"
#include "src/codegen/llvm/lane_sums.h"

namespace heddle::codegen {
namespace {

using ir::DecodeBuffer;
using ir::TensorId;

constexpr int kKeyTile = ir::DecodeProgram::kKeyTile;

Value* offset_slot(DecodeStep& s, DecodeBuffer list, Value* n) { return s.b.element(s.b.getInt64Ty(), s.buffer(list), n); }

struct RowOffsets { Value *key, *value; };

/// Offsets of the rows of key `key` of this batch, in a page.
RowOffsets paged_offsets(DecodeStep& s, Value* pages, Value* key) {
  IrBuilder& b = s.b;
  ArgumentReader args(b, s.block.args);
  Value* narrow = b.CreateTrunc(key, b.getInt32Ty());
  Value* page_keys = b.CreateTrunc(split_integer(b, s.block, offsetof(SplitArgs, page_keys)), b.getInt32Ty());
  Value* page = b.CreateAlignedLoad(b.getInt32Ty(), b.element(b.getInt32Ty(), pages, b.CreateZExt(b.CreateUDiv(narrow, page_keys), b.getInt64Ty())), llvm::Align(4));
  page = b.CreateSExt(page, b.getInt64Ty());
  Value* row = b.CreateZExt(b.CreateURem(narrow, page_keys), b.getInt64Ty());
  const auto offset = [&](TensorId tensor) {
    return b.CreateAdd(b.CreateMul(page, args.stride(tensor, 0)), b.CreateMul(row, args.stride(tensor, 2)));
  };
  return {offset(TensorId::K), offset(TensorId::V)};
}

/// Lists the rows of the step, the last one again up to step_keys: all of them are fetched.
void list_rows(DecodeStep& s, llvm::function_ref<RowOffsets(Value* key)> offsets) {
  IrBuilder& b = s.b;
  Value* last = b.CreateAdd(s.first_key, b.CreateSub(s.keys, b.constant(1)));
  Value* end = b.CreateSub(s.block.name("Sk"), b.constant(1));
  b.loop("list", b.constant(0), b.constant(s.program.step_keys), 1, {}, [&](Value* n, llvm::ArrayRef<Value*>) {
    const RowOffsets row = offsets(b.smaller(b.CreateAdd(s.first_key, n), last));
    const RowOffsets next = offsets(b.smaller(b.CreateAdd(b.CreateAdd(s.first_key, n), b.constant(s.program.step_keys)), end));
    b.CreateAlignedStore(next.key, offset_slot(s, DecodeBuffer::NextRows, n), llvm::Align(8));
    b.CreateAlignedStore(row.key, offset_slot(s, DecodeBuffer::KeyRows, n), llvm::Align(8));
    b.CreateAlignedStore(row.value, offset_slot(s, DecodeBuffer::ValueRows, n), llvm::Align(8));
    return Values{};
  }, Trips::AtLeastOne);
}

void list_rows(DecodeStep& s) {
  IrBuilder& b = s.b;
  ArgumentReader args(b, s.block.args);
  Value* table = split_pointer(b, s.block, offsetof(SplitArgs, pages));
  b.either(b.CreateIsNotNull(table), [&] {
    Value* stride = split_integer(b, s.block, offsetof(SplitArgs, pages_stride));
    Value* pages = b.element(b.getInt32Ty(), table, b.CreateMul(s.block.name("b"), stride));
    list_rows(s, [&](Value* key) { return paged_offsets(s, pages, key); });
    return Values{};
  }, [&] {
    Value *keys = args.stride(TensorId::K, 2), *values = args.stride(TensorId::V, 2);
    list_rows(s, [&](Value* key) { return RowOffsets{b.CreateMul(key, keys), b.CreateMul(key, values)}; });
    return Values{};
  });
}

/// Products of `rows` queries with four keys, a vector each: row r, key j at index r * 4 + j.
/// Rows of V are fetched meanwhile.
Values products(DecodeStep& s, const Values& keys, const Values& values, Value* row, int rows) {
  IrBuilder& b = s.b;
  const int64_t dims = s.program.head_dim, padded = s.program.padded(dims), whole = dims / b.lanes() * b.lanes();
  Value* queries = s.row(DecodeBuffer::Queries, row, padded);
  const auto add = [&](Value* dim, int64_t count, Values sums) {
    Values vectors;
    for (Value* value : values) prefetch(b, s.operand(value, dim));
    for (Value* key : keys) vectors.push_back(load_lanes(s, s.operand(key, dim), count));
    for (int r = 0; r < rows; ++r) {
      Value* query = b.load_vector(b.element(b.getFloatTy(), queries, b.CreateAdd(dim, b.constant(r * padded))));
      for (size_t j = 0; j < kKeyTile; ++j) {
        Value*& sum = sums[static_cast<size_t>(r) * kKeyTile + j];
        sum = b.fma(query, vectors[j], sum);
      }
    }
    return sums;
  };
  Values sums(static_cast<size_t>(rows) * kKeyTile, b.splat_real(0));
  if (whole > 0) {
    sums = b.loop("qk", b.constant(0), b.constant(whole), b.lanes(), sums, [&](Value* dim, llvm::ArrayRef<Value*> before) {
      return add(dim, b.lanes(), Values(before.begin(), before.end()));
    }, Trips::AtLeastOne);
  }
  return whole < dims ? add(b.constant(whole), dims - whole, sums) : sums;
}

/// Scores of `rows` rows with a vector of keys from number `n` on.
void score_tile(DecodeStep& s, Value* n, Value* row, int rows) {
  IrBuilder& b = s.b;
  const int quads = b.lanes() / kKeyTile;
  const auto quad_sum = [&](int r, Value* quad) {
    return s.at(DecodeBuffer::QuadSums, b.CreateMul(b.CreateAdd(b.constant(r * quads), quad), b.constant(b.lanes())));
  };
  b.loop("quads", b.constant(0), b.constant(quads), 1, {}, [&](Value* quad, llvm::ArrayRef<Value*>) {
    Values keys, values;
    Value* first = b.CreateAdd(n, b.CreateMul(quad, b.constant(kKeyTile)));
    for (int j = 0; j < kKeyTile; ++j) {
      Value* key = b.CreateAdd(first, b.constant(j));
      const auto offset = [&](DecodeBuffer list, Value* at) {
        return b.CreateAlignedLoad(b.getInt64Ty(), offset_slot(s, list, at), llvm::Align(8));
      };
      keys.push_back(s.operand(s.block.keys, offset(DecodeBuffer::KeyRows, key)));
      values.push_back(s.operand(s.block.values, offset(DecodeBuffer::ValueRows, fetched_row(b, key, s.program.step_keys))));
    }
    const Values sums = products(s, keys, values, row, rows);
    for (int r = 0; r < rows; ++r) {
      const auto begin = sums.begin() + r * kKeyTile;
      b.store_vector(sum_quads(b, Values(begin, begin + kKeyTile)), quad_sum(r, quad));
    }
    return Values{};
  }, Trips::AtLeastOne);
  for (int r = 0; r < rows; ++r) {
    Values parts;
    for (int quad = 0; quad < quads; ++quad) parts.push_back(b.load_vector(quad_sum(r, b.constant(quad))));
    Value* scores = s.row(DecodeBuffer::Scores, b.CreateAdd(row, b.constant(r)), s.program.step_keys);
    b.store_vector(sum_groups(b, parts), b.element(b.getFloatTy(), scores, n));
  }
}

}  // namespace

void emit_decode_scores(DecodeStep& s) {
  s.b.loop("keys", s.b.constant(0), s.keys, s.b.lanes(), {}, [&](Value* n, llvm::ArrayRef<Value*>) {
    each_row_tile(s.b, s.block.rows, s.program.row_tile, [&](Value* row, int rows) { score_tile(s, n, row, rows); });
    return Values{};
  }, Trips::AtLeastOne);
}

void emit_decode_step(DecodeStep& s, const ir::DecodePass& pass) {
  list_rows(s);
  emit_decode_scores(s);
  const auto softmax = [&](bool partial) {
    s.b.loop("softmax", s.b.constant(0), s.block.rows, 1, {}, [&](Value* row, llvm::ArrayRef<Value*>) {
      Value* live = emit_decode_softmax(s, pass, row, partial);
      if (partial) emit_decode_values(s, row, 1, s.buffer(DecodeBuffer::Live), live);
      return Values{};
    }, Trips::AtLeastOne);
  };
  s.b.either(s.partial, [&] {
    softmax(true);
    return Values{};
  }, [&] {
    softmax(false);
    each_row_tile(s.b, s.block.rows, s.program.value_rows, [&](Value* row, int rows) {
      emit_decode_values(s, row, rows, rows == 1 ? s.buffer(DecodeBuffer::Every) : nullptr, s.keys);
    });
    return Values{};
  });
}

}  // namespace heddle::codegen
