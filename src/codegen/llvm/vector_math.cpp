#include "src/codegen/llvm/vector_math.h"

#include <cfloat>
#include <cmath>
#include <limits>
#include <llvm/IR/IntrinsicsX86.h>
#include <numbers>

namespace heddle::codegen {
namespace {

// Relative minimax of 2^f on [-0.5, 0.5] with c0 = 1, rounded to f32: 0.82 ulp in Horner form over all f32 arguments.
constexpr float kExp2[] = {1.0f,           0.693147182f,   0.240226433f,  0.0555039383f,
                           0.00962008722f, 0.00133781519f, 0.000147800936f};
// Cephes tanhf: (tanh(x) - x) / x^3 in x^2, |x| < 0.625.
constexpr float kTanh[] = {-3.33332819422e-1f, 1.33314422036e-1f, -5.37397155531e-2f, 2.06390887954e-2f, -5.70498872745e-3f};
// ln 2 in two parts; the first has few enough bits that whole multiples up to 2^9 are exact.
constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440e-4;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kSqrtHalfBits = 0x3f3504f3;

}  // namespace

Value* VectorMath::polynomial(Value* x, llvm::ArrayRef<float> coefficients) {
  Value* sum = real(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = b_.fma(sum, x, real(coefficients[i]));
  return sum;
}

Value* VectorMath::clamp(Value* x, double low, double high) {  // comparisons ordered so that NaN stays
  x = b_.CreateSelect(b_.CreateFCmpOGT(real(low), x), real(low), x);
  return b_.CreateSelect(b_.CreateFCmpOLT(real(high), x), real(high), x);
}

Value* VectorMath::round(Value* x) {
  if (b_.target().level != CpuLevel::X86_64) return b_.CreateUnaryIntrinsic(llvm::Intrinsic::rint, x);
  Value* magic = real(12582912.0);  // 1.5 * 2^23: sums near it are whole; |x| < 2^22 here
  return b_.CreateFSub(b_.CreateFAdd(x, magic), magic);
}

Value* VectorMath::power(Value* n, Value* f) {
  if (scalef_) {
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                              {polynomial(f, kExp2), n, real(0), b_.getInt16(0xffff), b_.getInt32(4)});
  }
  // 2 * 2^f times 2^(n - 1): the exponent field of the second factor makes it infinite from n = 129 up and 0 from n = -126 down.
  float doubled[std::size(kExp2)];
  for (size_t i = 0; i < std::size(kExp2); ++i) doubled[i] = 2 * kExp2[i];
  Value* magic = b_.CreateFAdd(clamp(n, -126, 129), real(12582912.0 + 126));
  Value* scale = b_.CreateShl(b_.CreateBitCast(magic, b_.ints(32)), b_.splat_int(23, 32));
  return b_.CreateFMul(polynomial(f, doubled), b_.CreateBitCast(scale, b_.f32s()));
}

Value* VectorMath::exp2(Value* x) {
  if (scalef_) {  // the fraction of an infinity is 0, and scalef knows infinite exponents: no clamps
    Value* fraction = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_reduce_ps_512, {},
                                         {x, b_.getInt32(0), real(0), b_.getInt16(0xffff), b_.getInt32(4)});
    return power(round(x), fraction);
  }
  x = clamp(x, -160, 160);
  Value* n = round(x);
  return power(n, b_.CreateFSub(x, n));
}

Value* VectorMath::exp(Value* x) {
  x = clamp(x, -110, 110);
  Value* n = round(b_.CreateFMul(x, real(std::numbers::log2e)));
  Value* rest = b_.fma(n, real(-kLn2Low), b_.fma(n, real(-kLn2High), x));
  return power(n, b_.CreateFMul(rest, real(std::numbers::log2e)));
}

VectorMath::Logarithm VectorMath::logarithm(Value* x, double base_factor) {
  Value* tiny = b_.CreateFCmpOLT(x, real(FLT_MIN));
  x = b_.CreateSelect(tiny, b_.CreateFMul(x, real(0x1p24)), x);
  Value* bits = b_.CreateBitCast(x, b_.ints(32));
  Value* exponent = b_.CreateAShr(b_.CreateSub(bits, b_.splat_int(kSqrtHalfBits, 32)), b_.splat_int(23, 32));
  Value* mantissa = b_.CreateBitCast(b_.CreateSub(bits, b_.CreateShl(exponent, b_.splat_int(23, 32))), b_.f32s());
  Value* t = b_.CreateFDiv(b_.CreateFSub(mantissa, real(1)), b_.CreateFAdd(mantissa, real(1)));
  const float series[] = {static_cast<float>(2 * base_factor / 3), static_cast<float>(2 * base_factor / 5),
                          static_cast<float>(2 * base_factor / 7), static_cast<float>(2 * base_factor / 9)};
  Value* square = b_.CreateFMul(t, t);
  Value* cubic = b_.CreateFMul(b_.CreateFMul(polynomial(square, series), square), t);
  Value* shift = b_.CreateSelect(tiny, real(-24), real(0));
  return {b_.CreateFAdd(b_.CreateSIToFP(exponent, b_.f32s()), shift), b_.fma(t, real(2 * base_factor), cubic)};
}

Value* VectorMath::with_special_cases(Value* x, Value* log) {
  log = b_.CreateSelect(b_.CreateFCmpOEQ(x, real(0)), real(-kInfinity), log);
  log = b_.CreateSelect(b_.CreateFCmpOEQ(x, real(kInfinity)), real(kInfinity), log);
  Value* invalid = b_.CreateFCmpULT(x, real(0));  // negative or NaN
  return b_.CreateSelect(invalid, real(std::numeric_limits<double>::quiet_NaN()), log);
}

Value* VectorMath::log2(Value* x) {
  const Logarithm parts = logarithm(x, std::numbers::log2e);
  return with_special_cases(x, b_.CreateFAdd(parts.exponent, parts.mantissa));
}

Value* VectorMath::log(Value* x) {
  const Logarithm parts = logarithm(x, 1);
  Value* low = b_.fma(parts.exponent, real(kLn2Low), parts.mantissa);
  return with_special_cases(x, b_.fma(parts.exponent, real(kLn2High), low));
}

Value* VectorMath::tanh(Value* x) {
  Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* square = b_.CreateFMul(x, x);
  Value* near = b_.fma(b_.CreateFMul(polynomial(square, kTanh), square), x, x);
  Value* e = exp(b_.CreateFAdd(magnitude, magnitude));
  Value* far = b_.CreateFSub(real(1), b_.CreateFDiv(real(2), b_.CreateFAdd(e, real(1))));
  far = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, far, x);
  return b_.CreateSelect(b_.CreateFCmpOLT(magnitude, real(0.625)), near, far);
}

Value* VectorMath::sigmoid(Value* x) { return b_.CreateFDiv(real(1), b_.CreateFAdd(real(1), exp(b_.CreateFNeg(x)))); }

Value* VectorMath::sqrt(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }

Value* VectorMath::min(Value* a, Value* b) {
  Value* smaller = b_.CreateSelect(b_.CreateFCmpOLT(a, b), a, b);
  return b_.CreateSelect(b_.CreateFCmpUNO(a, a), a, smaller);
}

Value* VectorMath::max(Value* a, Value* b) {
  Value* larger = b_.CreateSelect(b_.CreateFCmpOGT(a, b), a, b);
  return b_.CreateSelect(b_.CreateFCmpUNO(a, a), a, larger);
}

}  // namespace heddle::codegen
