#include "src/codegen/llvm/integer_ops.h"

#include <bit>

#include "heddle/error.h"

namespace heddle::codegen {
namespace {

using llvm::CmpInst;
using llvm::ConstantInt;

Value* same(Value* like, int64_t value) { return ConstantInt::get(like->getType(), static_cast<uint64_t>(value), true); }
Value* zero(Value* like) { return same(like, 0); }

struct Division {
  Value *quotient, *remainder;
};

/// Truncating division of machine integers, made floor division. Needs b != 0 and no overflow.
Division floor_correct(IrBuilder& builder, Value* a, Value* b, Value* truncated) {
  Value* remainder = builder.CreateSub(a, builder.CreateMul(truncated, b));
  Value* inexact = builder.CreateICmpNE(remainder, zero(a));
  Value* signs_differ = builder.CreateICmpSLT(builder.CreateXor(remainder, b), zero(a));
  Value* adjust = builder.CreateAnd(inexact, signs_differ);
  return {builder.CreateAdd(truncated, builder.CreateSExt(adjust, a->getType())),
          builder.CreateAdd(remainder, builder.CreateSelect(adjust, b, zero(a)))};
}

Division by_constant(IrBuilder& builder, Value* a, int64_t c, bool non_negative) {
  if (c == 0) return {zero(a), zero(a)};
  if (c == -1) return {builder.CreateNeg(a), zero(a)};
  if (c > 0 && std::has_single_bit(static_cast<uint64_t>(c))) {
    return {builder.CreateAShr(a, same(a, std::countr_zero(static_cast<uint64_t>(c)))), builder.CreateAnd(a, same(a, c - 1))};
  }
  if (c > 0 && non_negative) {
    Value* quotient = builder.CreateUDiv(a, same(a, c));
    return {quotient, builder.CreateSub(a, builder.CreateMul(quotient, same(a, c)))};
  }
  return floor_correct(builder, a, same(a, c), builder.CreateSDiv(a, same(a, c)));
}

/// Exact truncated quotients of 32-bit integers through float64: a / b is at least 1 / |b| away from the next whole number.
Value* divide_narrow_vectors(IrBuilder& builder, Value* a, Value* b) {
  llvm::Type* doubles = llvm::FixedVectorType::get(builder.getDoubleTy(), static_cast<unsigned>(builder.lanes()));
  Value* quotient = builder.CreateFDiv(builder.CreateSIToFP(a, doubles), builder.CreateSIToFP(b, doubles));
  return builder.CreateFPToSI(quotient, a->getType());
}

Division by_variable(IrBuilder& builder, Value* a, Value* b) {
  Value *is_zero = builder.CreateICmpEQ(b, zero(b)), *is_minus_one = builder.CreateICmpEQ(b, same(b, -1));
  Value* safe = builder.CreateSelect(builder.CreateOr(is_zero, is_minus_one), same(b, 1), b);
  const bool narrow_vector = a->getType()->isVectorTy() && a->getType()->getScalarSizeInBits() == 32;
  Value* truncated = narrow_vector ? divide_narrow_vectors(builder, a, safe) : builder.CreateSDiv(a, safe);
  const Division division = floor_correct(builder, a, safe, truncated);
  Value* quotient = builder.CreateSelect(is_minus_one, builder.CreateNeg(a), division.quotient);
  return {builder.CreateSelect(is_zero, zero(a), quotient), builder.CreateSelect(is_zero, zero(a), division.remainder)};
}

Division divide(IrBuilder& builder, Value* a, Value* b, const DivisionFacts& facts) {
  return facts.divisor ? by_constant(builder, a, *facts.divisor, facts.dividend_non_negative) : by_variable(builder, a, b);
}

}  // namespace

Value* floor_divide(IrBuilder& builder, Value* a, Value* b, const DivisionFacts& facts) {
  return divide(builder, a, b, facts).quotient;
}

Value* floor_modulo(IrBuilder& builder, Value* a, Value* b, const DivisionFacts& facts) {
  return divide(builder, a, b, facts).remainder;
}

Value* integer_arithmetic(IrBuilder& builder, ir::Op op, Value* a, Value* b) {
  switch (op) {
    case ir::Op::Neg: return builder.CreateNeg(a);
    case ir::Op::Add: return builder.CreateAdd(a, b);
    case ir::Op::Sub: return builder.CreateSub(a, b);
    case ir::Op::Mul: return builder.CreateMul(a, b);
    case ir::Op::Abs: return builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, builder.getFalse());
    case ir::Op::Min: return builder.smaller(a, b);
    case ir::Op::Max: return builder.larger(a, b);
    default: throw InternalError("llvm emitter", std::string("no integer form of ") + ir::op_text(op));
  }
}

Value* integer_comparison(IrBuilder& builder, ir::Op op, Value* a, Value* b) {
  switch (op) {
    case ir::Op::Lt: return builder.CreateICmpSLT(a, b);
    case ir::Op::Le: return builder.CreateICmpSLE(a, b);
    case ir::Op::Gt: return builder.CreateICmpSGT(a, b);
    case ir::Op::Ge: return builder.CreateICmpSGE(a, b);
    case ir::Op::Eq: return builder.CreateICmpEQ(a, b);
    case ir::Op::Ne: return builder.CreateICmpNE(a, b);
    default: throw InternalError("llvm emitter", std::string("not a comparison: ") + ir::op_text(op));
  }
}

Value* real_comparison(IrBuilder& builder, ir::Op op, Value* a, Value* b) {
  switch (op) {
    case ir::Op::Lt: return builder.CreateFCmpOLT(a, b);
    case ir::Op::Le: return builder.CreateFCmpOLE(a, b);
    case ir::Op::Gt: return builder.CreateFCmpOGT(a, b);
    case ir::Op::Ge: return builder.CreateFCmpOGE(a, b);
    case ir::Op::Eq: return builder.CreateFCmpOEQ(a, b);
    case ir::Op::Ne: return builder.CreateFCmpUNE(a, b);
    default: throw InternalError("llvm emitter", std::string("not a comparison: ") + ir::op_text(op));
  }
}

}  // namespace heddle::codegen
