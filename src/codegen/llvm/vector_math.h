// Elementary functions on f32 vectors as IR: polynomials of our own, no library call, NaN and infinities as IEEE.
//
// Errors are in units in the last place of the exact result over the normal range; results below 2^-125 may be zero.
#pragma once
#include "src/codegen/llvm/ir_builder.h"

namespace heddle::codegen {

/// Functions for the builder's target: on AVX-512 powers of two are applied by instructions of their own.
class VectorMath {
 public:
  explicit VectorMath(IrBuilder& builder) : b_(builder), scalef_(builder.target().level == CpuLevel::Avx512) {}

  Value* exp2(Value* x);     ///< 0.9 ulp, 1.1 without fused multiply-add; exactly 0 for x <= -160.
  Value* exp(Value* x);      ///< 2 ulp. Cody and Waite argument reduction.
  Value* log2(Value* x);     ///< 3 ulp. Series of the inverse hyperbolic tangent.
  Value* log(Value* x);      ///< 3 ulp.
  Value* tanh(Value* x);     ///< 3 ulp. Cephes' polynomial near 0, exponentials elsewhere.
  Value* sigmoid(Value* x);  ///< 3 ulp.
  Value* sqrt(Value* x);     ///< Correctly rounded.
  /// The smaller or larger of two; NaN when either is NaN.
  Value* min(Value* a, Value* b);
  Value* max(Value* a, Value* b);

 private:
  struct Logarithm { Value *exponent, *mantissa; };  ///< log(x) = exponent * log(2) + mantissa, in the base asked for.
  Value* real(double value) { return b_.splat_real(value); }
  Value* polynomial(Value* x, llvm::ArrayRef<float> coefficients);
  Value* clamp(Value* x, double low, double high);
  Value* round(Value* x);
  /// 2^(n + f) for whole n within [-160, 160] and |f| <= 0.5.
  Value* power(Value* n, Value* f);
  Logarithm logarithm(Value* x, double base_factor);
  Value* with_special_cases(Value* x, Value* log);

  IrBuilder& b_;
  bool scalef_;
};

}  // namespace heddle::codegen
