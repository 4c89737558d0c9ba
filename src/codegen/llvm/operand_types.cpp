#include "src/codegen/llvm/operand_types.h"

#include <bit>

namespace heddle::codegen {
namespace {

llvm::Type* with_element(llvm::Type* shape, llvm::Type* element) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape);
  return vector ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(element, vector->getNumElements())) : element;
}

/// Conversions of vectors or scalars shaped like one value.
class Converter {
 public:
  Converter(IrBuilder& b, llvm::Type* shape)
      : b_(b), halves_(with_element(shape, b.getInt16Ty())), words_(with_element(shape, b.getInt32Ty())),
        reals_(with_element(shape, b.getFloatTy())), float16s_(with_element(shape, b.getHalfTy())) {}

  Value* from_bfloat16(Value* raw) { return as_real(b_.CreateShl(b_.CreateZExt(raw, words_), word(16))); }

  Value* to_bfloat16(Value* real) {
    Value *bits = as_word(real), *high = b_.CreateLShr(bits, word(16));
    Value* up = b_.CreateAdd(b_.CreateAnd(high, word(1)), word(0x7fff));
    Value* nearest = b_.CreateLShr(b_.CreateAdd(bits, up), word(16));
    return half_of(b_.CreateSelect(b_.CreateFCmpUNO(real, real), b_.CreateOr(high, word(0x40)), nearest));
  }

  Value* from_float16(Value* raw) {
    if (converts()) return b_.CreateFPExt(b_.CreateBitCast(raw, float16s_), reals_);
    Value *bits = b_.CreateZExt(raw, words_), *magnitude = b_.CreateAnd(bits, word(0x7fff));
    Value* bias = b_.CreateSelect(b_.CreateICmpUGE(magnitude, word(0x7c00)), word(224 << 23), word(112 << 23));
    Value* normal = b_.CreateAdd(b_.CreateShl(magnitude, word(13)), bias);
    Value* subnormal = as_word(b_.CreateFMul(b_.CreateSIToFP(magnitude, reals_), real(0x1p-24)));
    Value* result = b_.CreateSelect(b_.CreateICmpULT(magnitude, word(0x400)), subnormal, normal);
    return as_real(b_.CreateOr(result, b_.CreateShl(b_.CreateAnd(bits, word(0x8000)), word(16))));
  }

  Value* to_float16(Value* value) {
    if (converts()) return b_.CreateBitCast(b_.CreateFPTrunc(value, float16s_), halves_);
    Value *bits = as_word(value), *magnitude = b_.CreateAnd(bits, word(0x7fffffff));
    Value* odd = b_.CreateAnd(b_.CreateLShr(magnitude, word(13)), word(1));
    Value* normal = b_.CreateLShr(b_.CreateAdd(b_.CreateSub(magnitude, word(112 << 23)), b_.CreateAdd(odd, word(0xfff))), word(13));
    Value* sum = b_.CreateFAdd(as_real(magnitude), real(0.5));  // whose last place is 2^-24
    Value* subnormal = b_.CreateSub(as_word(sum), as_word(real(0.5)));
    Value* finite = b_.CreateSelect(b_.CreateICmpULT(magnitude, word(0x38800000)), subnormal, normal);
    Value* special = b_.CreateSelect(b_.CreateICmpUGT(magnitude, word(0x7f800000)), word(0x7e00), word(0x7c00));
    Value* result = b_.CreateSelect(b_.CreateICmpULT(magnitude, word(0x47800000)), finite, special);
    return half_of(b_.CreateOr(result, b_.CreateLShr(b_.CreateAnd(bits, word(0x80000000)), word(16))));
  }

 private:
  /// Whether the target has instructions between float16 and f32.
  bool converts() const { return b_.target().level != CpuLevel::X86_64; }
  Value* word(uint32_t value) { return llvm::ConstantInt::get(words_, value); }
  Value* real(double value) { return llvm::ConstantFP::get(reals_, value); }
  Value* as_real(Value* bits) { return b_.CreateBitCast(bits, reals_); }
  Value* as_word(Value* real) { return b_.CreateBitCast(real, words_); }
  Value* half_of(Value* word) { return b_.CreateTrunc(word, halves_); }

  IrBuilder& b_;
  llvm::Type *halves_, *words_, *reals_, *float16s_;
};

}  // namespace

llvm::Type* memory_type(IrBuilder& b, DType dtype) { return dtype == DType::Float32 ? b.getFloatTy() : b.getInt16Ty(); }

Value* operand_element(IrBuilder& b, DType dtype, Value* base, Value* index) { return b.element(memory_type(b, dtype), base, index); }

Value* load_raw(IrBuilder& b, DType dtype, Value* address, unsigned count) {
  llvm::Type* element = memory_type(b, dtype);
  llvm::Type* type = count == 0 ? element : llvm::FixedVectorType::get(element, count);
  return b.CreateAlignedLoad(type, address, llvm::Align(static_cast<uint64_t>(size_of(dtype))));
}

void store_raw(IrBuilder& b, DType dtype, Value* raw, Value* address) {
  b.CreateAlignedStore(raw, address, llvm::Align(static_cast<uint64_t>(size_of(dtype))));
}

Value* widened(IrBuilder& b, DType dtype, Value* raw) {
  if (dtype == DType::Float32) return raw;
  Converter convert(b, raw->getType());
  return dtype == DType::BFloat16 ? convert.from_bfloat16(raw) : convert.from_float16(raw);
}

Value* rounded(IrBuilder& b, DType dtype, Value* real) {
  if (dtype == DType::Float32) return real;
  Converter convert(b, real->getType());
  return dtype == DType::BFloat16 ? convert.to_bfloat16(real) : convert.to_float16(real);
}

namespace {

/// The first `count` of lanes() raw elements, in powers of two; 0 behind them.
Value* load_some(IrBuilder& b, DType dtype, Value* address, int64_t count) {
  const int lanes = b.lanes();
  Value* all = llvm::Constant::getNullValue(llvm::FixedVectorType::get(memory_type(b, dtype), static_cast<unsigned>(lanes)));
  for (int64_t done = 0; done < count;) {
    const auto width = std::bit_floor(static_cast<unsigned>(count - done));
    Value* part = load_raw(b, dtype, operand_element(b, dtype, address, b.constant(done)), width);
    llvm::SmallVector<int, 16> spread, blend;
    for (int lane = 0; lane < lanes; ++lane) {
      const bool inside = lane >= done && lane < done + width;
      spread.push_back(inside ? static_cast<int>(lane - done) : -1);
      blend.push_back(inside ? lanes + lane : lane);
    }
    all = b.CreateShuffleVector(all, b.CreateShuffleVector(part, spread), blend);
    done += width;
  }
  return all;
}

}  // namespace

Value* load_operands(IrBuilder& b, DType dtype, Value* address, int64_t count) {
  const bool whole = count >= b.lanes();
  return widened(b, dtype, whole ? load_raw(b, dtype, address, static_cast<unsigned>(b.lanes())) : load_some(b, dtype, address, count));
}

}  // namespace heddle::codegen
