// Integer operations with Heddle's meaning (floor division, total for zero divisors) on scalars and vectors of any width.
#pragma once
#include <optional>
#include "src/codegen/llvm/ir_builder.h"
#include "src/ir/expr.h"

namespace heddle::codegen {

/// What is known of a division's operands.
struct DivisionFacts {
  std::optional<int64_t> divisor;     ///< Its value when constant.
  bool dividend_non_negative = false;
};

Value* floor_divide(IrBuilder& builder, Value* a, Value* b, const DivisionFacts& facts);
Value* floor_modulo(IrBuilder& builder, Value* a, Value* b, const DivisionFacts& facts);

/// Neg, Add, Sub, Mul, Abs, Min and Max of equally wide operands.
Value* integer_arithmetic(IrBuilder& builder, ir::Op op, Value* a, Value* b);
/// Lt .. Ne as signed comparisons.
Value* integer_comparison(IrBuilder& builder, ir::Op op, Value* a, Value* b);
/// Lt .. Ne of reals: NaN compares false, Ne true.
Value* real_comparison(IrBuilder& builder, ir::Op op, Value* a, Value* b);

}  // namespace heddle::codegen
