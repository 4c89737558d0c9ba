#include <cfloat>
#include <functional>

#include "src/codegen/llvm/body_emitter.h"
#include "src/codegen/llvm/micro_kernel.h"

namespace heddle::codegen {
namespace {

using ir::kNoBuffer;

class ContractEmitter {
 public:
  ContractEmitter(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, const ir::Contract& s,
                  Value* rhs_factor)
      : b_(b), program_(program), block_(block), step_(step), s_(s), rhs_factor_(rhs_factor),
        out_(matrix(b, program, block, s.out)), lhs_(matrix(b, program, block, s.lhs)) {}

  void over_dims() {
    Value *tile = b_.constant(s_.tile_columns), *last = b_.CreateSub(step_.keys, tile);
    const Values init(s_.column_max == kNoBuffer ? 0 : vectors(), b_.splat_real(-FLT_MAX));
    auto wide = [&] {  // the last register tile may overlap the one before it
      return b_.loop("keys", b_.constant(0), step_.keys, s_.tile_columns, init, [&](Value* n, llvm::ArrayRef<Value*> top) {
        return keys(b_.smaller(n, last), s_.tile_columns, top);
      }, Trips::AtLeastOne);
    };
    auto narrow = [&] {
      return b_.loop("key", b_.constant(0), step_.keys, 1, init,
                     [&](Value* n, llvm::ArrayRef<Value*> top) { return keys(n, 1, top); }, Trips::AtLeastOne);
    };
    const Values top = b_.either(b_.CreateICmpSGE(step_.keys, tile), wide, narrow);
    if (s_.column_max != kNoBuffer) matrix(b_, program_, block_, s_.column_max).store(b_, b_.constant(0), top);
  }

  void over_keys() {
    const int64_t dims = program_.buffers.at(static_cast<size_t>(s_.out)).columns, tile = s_.tile_columns;
    const int64_t whole = dims / tile * tile;
    if (whole > 0) {
      b_.loop("dims", b_.constant(0), b_.constant(whole), tile, {}, [&](Value* dim, llvm::ArrayRef<Value*>) {
        dims_tile(dim, s_.tile_columns);
        return Values{};
      }, Trips::AtLeastOne);
    }
    if (whole < dims) dims_tile(b_.constant(whole), static_cast<int>(dims - whole));
  }

 private:
  size_t vectors() const { return static_cast<size_t>(program_.vectors()); }
  bool staged() const { return s_.rhs.staged != kNoBuffer; }
  /// Row `key` (counted from the step's first) of the right operand.
  Value* operand_row(Value* key) {
    if (staged()) return staged_row(key);
    Value* index = b_.CreateMul(b_.CreateAdd(step_.first_key, key), block_.row_stride.at(s_.rhs.tensor));
    return operand_element(b_, program_.dtype, block_.base.at(s_.rhs.tensor), index);
  }

  Value* staged_row(Value* row) {
    const int64_t width = program_.buffers.at(static_cast<size_t>(s_.rhs.staged)).width;
    return b_.element(b_.getFloatTy(), buffer_address(b_, program_, block_, s_.rhs.staged), b_.CreateMul(row, b_.constant(width)));
  }

  bool pairs() const { return program_.buffers.at(static_cast<size_t>(s_.lhs)).element == ir::Element::Pairs; }
  /// What is broadcast of an address: an element, multiplied by the factor, or a pair as it is.
  Value* loaded(Value* address) {
    if (pairs()) return b_.CreateAlignedLoad(b_.getInt32Ty(), address, llvm::Align(2));
    Value* element = b_.CreateAlignedLoad(b_.getFloatTy(), address, llvm::Align(4));
    return rhs_factor_ ? b_.CreateFMul(element, rhs_factor_) : element;
  }

  Values elements_at(llvm::Type* type, const Values& rows, Value* index) {
    Values addresses;
    for (Value* row : rows) addresses.push_back(b_.element(type, row, index));
    return addresses;
  }

  /// Scores of `columns` keys from key `n` on; returns the running maximum.
  Values keys(Value* n, int columns, llvm::ArrayRef<Value*> top) {
    Values rows;
    for (int r = 0; r < columns; ++r) rows.push_back(operand_row(b_.CreateAdd(n, b_.constant(r))));
    const Values zeros(static_cast<size_t>(columns) * vectors(), b_.splat_real(0));
    return finish_keys(n, columns, pairs() ? dots_of_dims(rows, zeros) : products_of_dims(rows, zeros), top);
  }
  int64_t dims() const { return program_.buffers.at(static_cast<size_t>(s_.lhs)).columns; }
  Values products_of_dims(const Values& rows, const Values& zeros) {
    return micro_kernel(b_, "qk", lhs_, b_.constant(dims()), zeros, {[&](Value* dim) { return elements_at(b_.getFloatTy(), rows, dim); }, load_},
                        Trips::AtLeastOne);
  }
  /// Pairs of dims, then an odd last one; the factor multiplies the sums.
  Values dots_of_dims(const Values& rows, Values sums) {
    const int64_t whole = dims() / 2;
    if (whole > 0) {
      sums = micro_kernel(b_, "qk", lhs_, b_.constant(whole), sums, {[&](Value* pair) { return elements_at(b_.getInt32Ty(), rows, pair); }, load_},
                          Trips::AtLeastOne);
    }
    if (dims() % 2 != 0) {
      const Values last = elements_at(b_.getInt16Ty(), rows, b_.constant(2 * whole));
      const auto load = [&](Value* address) {
        return b_.CreateZExt(b_.CreateAlignedLoad(b_.getInt16Ty(), address, llvm::Align(2)), b_.getInt32Ty());
      };
      sums = product_step(b_, lhs_, b_.constant(whole), last, load, sums);
    }
    if (!rhs_factor_) return sums;
    for (Value*& sum : sums) sum = b_.CreateFMul(sum, b_.splat(rhs_factor_));
    return sums;
  }

  Values finish_keys(Value* n, int columns, const Values& sums, llvm::ArrayRef<Value*> top) {
    Values result(top.begin(), top.end());
    for (int r = 0; r < columns; ++r) {
      const Values column(sums.begin() + r * program_.vectors(), sums.begin() + (r + 1) * program_.vectors());
      out_.store(b_, b_.CreateAdd(n, b_.constant(r)), column);
      for (size_t i = 0; i < result.size(); ++i) result[i] = b_.maximum(column[i], result[i]);
    }
    return result;
  }

  void dims_tile(Value* dim, int columns) {
    auto [offsets, count] = key_list(b_, program_, block_, step_, s_.all_keys, s_.live);
    Value* first = staged() ? nullptr : b_.element(b_.getFloatTy(), operand_row(b_.constant(0)), dim);
    const auto addresses = [&, list = offsets](Value* key) {
      Value* row = staged() ? b_.element(b_.getFloatTy(), staged_row(key), dim) : b_.element(b_.getFloatTy(), first, listed(list, key));
      Values found;
      for (int r = 0; r < columns; ++r) found.push_back(b_.element(b_.getFloatTy(), row, r));
      return found;
    };
    if (pairs()) count = b_.CreateLShr(b_.CreateAdd(count, b_.constant(1)), b_.constant(1));
    const Values sums = micro_kernel(b_, "pv", lhs_, count, initial(dim, columns), {addresses, load_}, Trips::Maybe);
    for (int r = 0; r < columns; ++r) {
      const Values column(sums.begin() + r * program_.vectors(), sums.begin() + (r + 1) * program_.vectors());
      out_.store(b_, b_.CreateAdd(dim, b_.constant(r)), column);
    }
  }

  Value* listed(Value* list, Value* key) {
    return b_.CreateAlignedLoad(b_.getInt64Ty(), b_.element(b_.getInt64Ty(), list, key), llvm::Align(8));
  }

  /// What the sums start from: the accumulated operand, its rows scaled.
  Values initial(Value* dim, int columns) {
    if (s_.accumulate.matrix == kNoBuffer) return Values(static_cast<size_t>(columns) * vectors(), b_.splat_real(0));
    const Matrix before = matrix(b_, program_, block_, s_.accumulate.matrix);
    Values scale, result;
    if (s_.accumulate.scale != kNoBuffer) scale = matrix(b_, program_, block_, s_.accumulate.scale).load(b_, b_.constant(0));
    for (int r = 0; r < columns; ++r) {
      const Values column = before.load(b_, b_.CreateAdd(dim, b_.constant(r)));
      for (size_t i = 0; i < column.size(); ++i) result.push_back(scale.empty() ? column[i] : b_.CreateFMul(column[i], scale[i]));
    }
    return result;
  }

  IrBuilder& b_;
  const ir::ScheduledProgram& program_;
  BlockContext& block_;
  StepContext& step_;
  const ir::Contract& s_;
  Value* rhs_factor_;
  Matrix out_, lhs_;
  std::function<Value*(Value* address)> load_ = [this](Value* address) { return loaded(address); };
};

}  // namespace

KeyList key_list(IrBuilder& b, const ir::ScheduledProgram& program, const BlockContext& block, const StepContext& step, ir::BufferId all_keys,
                 const ir::LiveKeys& live) {
  Value* all = all_keys == kNoBuffer ? nullptr : buffer_address(b, program, block, all_keys);
  if (live.offsets == kNoBuffer) return {all, step.keys};
  Value* count = step.live_count.at(live.offsets);
  return {all ? b.CreateSelect(step.partial, buffer_address(b, program, block, live.offsets), all) : nullptr, count};
}

void emit_contract(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, const ir::Contract& s,
                   Value* rhs_factor) {
  ContractEmitter emitter(b, program, block, step, s, rhs_factor);
  if (s.kind == ir::Contraction::OverDims) {
    emitter.over_dims();
  } else {
    emitter.over_keys();
  }
}

}  // namespace heddle::codegen
