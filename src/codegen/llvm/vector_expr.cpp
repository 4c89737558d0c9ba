#include "src/codegen/llvm/vector_expr.h"

#include <algorithm>

#include "heddle/error.h"
#include "src/codegen/llvm/integer_ops.h"
#include "src/ir/attention_problem.h"
#include "src/ir/rewrite.h"

namespace heddle::codegen {
namespace {

using ir::Expr;
using ir::Interval;
using ir::Op;
using ir::Type;

constexpr int64_t kMaxHeads = int64_t{1} << 20;
constexpr Interval kNarrow = {INT32_MIN, INT32_MAX};
/// One less than int32 on both sides, so that a comparison with a clamped 64-bit value stays exact.
constexpr Interval kComparesWithClamped = {kNarrow.low + 1, kNarrow.high - 1};

const std::map<std::string, Interval>& coordinate_ranges() {
  static const std::map<std::string, Interval> ranges = {
      {"q", {0, ir::kMaxPositions - 1}}, {"k", {0, ir::kMaxPositions - 1}}, {"Sq", {0, ir::kMaxPositions}},
      {"Sk", {0, ir::kMaxPositions}},    {"b", {0, kMaxHeads}},             {"h", {0, kMaxHeads}},
      {"B", {0, kMaxHeads}},             {"H", {0, kMaxHeads}},             {"Hkv", {0, kMaxHeads}}};
  return ranges;
}

bool is_comparison(Op op) {
  return op == Op::Lt || op == Op::Le || op == Op::Gt || op == Op::Ge || op == Op::Eq || op == Op::Ne;
}

}  // namespace

VectorExpr::VectorExpr(IrBuilder& builder, VectorMath& math, const ScalarExpr& uniform, const Names& reals, const RowCoordinates& rows)
    : b_(builder), math_(math), fixed_scalar_(uniform), column_scalar_(uniform), reals_(reals), rows_(rows) {}

template <class F>
Values VectorExpr::each(F make) {
  Values result;
  for (size_t i = 0; i < static_cast<size_t>(rows_.vectors); ++i) result.push_back(make(i));
  return result;
}

Values VectorExpr::broadcast(Value* scalar) { return Values(static_cast<size_t>(rows_.vectors), b_.splat(scalar)); }

void VectorExpr::bind(int index, const Values& value, bool fixed) {
  arguments_[index] = value;
  argument_fixed_[index] = fixed;
}

bool VectorExpr::varies(const Expr& expr) {
  const auto found = varies_.find(expr);
  if (found != varies_.end()) return found->second;
  bool result = expr->op == Op::Var && expr->name == rows_.column;
  if (expr->op == Op::Arg) {
    const auto known = argument_fixed_.find(static_cast<int>(expr->integer));
    result = known == argument_fixed_.end() || !known->second;  // locals made in the loop are bound there
  }
  for (const Expr& operand : expr->operands) result = varies(operand) || result;
  return varies_[expr] = result;
}

bool VectorExpr::is_scalar(const Expr& expr) {
  const auto found = scalar_.find(expr);
  if (found != scalar_.end()) return found->second;
  bool result = (expr->type != Type::Real || expr->op == Op::Read) && expr->op != Op::Arg && !(expr->op == Op::Var && expr->name == rows_.row);
  for (const Expr& operand : expr->operands) result = is_scalar(operand) && result;
  return scalar_[expr] = result;
}

unsigned VectorExpr::bits(const Expr& expr) {
  const auto found = bits_.find(expr);
  if (found != bits_.end()) return found->second;
  return bits_[expr] = ir::fits(expr, coordinate_ranges(), kNarrow) ? 32 : 64;
}

void VectorExpr::hoist(const Expr& expr) {
  if (varies(expr)) {
    for (const Expr& operand : expr->operands) hoist(operand);
  } else if (is_scalar(expr)) {
    fixed_scalar_(expr);
    if (expr->type == Type::Int && !expr->operands.empty()) integer(expr, bits(expr));
  } else {
    eval(expr);
  }
}

void VectorExpr::begin_column(Value* key) {
  column_.clear();
  column_scalar_ = fixed_scalar_;
  if (key) column_scalar_.define(rows_.column, key);
}

Values VectorExpr::real(const Expr& expr) { return eval(expr); }

Values VectorExpr::predicate(const Expr& expr) { return eval(expr); }

Values VectorExpr::eval(const Expr& expr) {
  ExprMap<Values>& memo = varies(expr) ? column_ : fixed_;
  const auto found = memo.find(expr);
  if (found != memo.end()) return found->second;
  const Values value = emit(expr);
  memo.emplace(expr, value);
  return value;
}

Values VectorExpr::emit(const Expr& expr) {
  if (is_scalar(expr)) {
    Value* scalar = varies(expr) ? column_scalar_(expr) : fixed_scalar_(expr);
    if (expr->type == Type::Int && bits(expr) == 32) scalar = b_.CreateTrunc(scalar, b_.getInt32Ty());
    return broadcast(scalar);
  }
  if (expr->operands.empty()) return leaf(expr);
  if (expr->op == Op::Read) return table_elements(expr);
  if (is_comparison(expr->op)) return comparison(expr);
  if (expr->type == Type::Real) return real_operation(expr);
  if (expr->type == Type::Int) return integer_operation(expr);
  const Values a = eval(expr->operands[0]);
  if (expr->op == Op::Not) return each([&](size_t i) { return b_.CreateNot(a[i]); });
  const Values b = eval(expr->operands[1]);
  if (expr->op == Op::Select) {
    const Values c = eval(expr->operands[2]);
    return each([&](size_t i) { return b_.CreateSelect(a[i], b[i], c[i]); });
  }
  return each([&](size_t i) { return expr->op == Op::And ? b_.CreateAnd(a[i], b[i]) : b_.CreateOr(a[i], b[i]); });
}

Values VectorExpr::leaf(const Expr& expr) {
  if (expr->op == Op::RealConst) return Values(static_cast<size_t>(rows_.vectors), b_.splat_real(expr->real));
  if (expr->op == Op::Var && expr->name == rows_.row) return row_numbers(bits(expr));
  if (expr->op == Op::Param && reals_.contains(expr->name)) return broadcast(reals_.at(expr->name));
  const auto bound = arguments_.find(static_cast<int>(expr->integer));
  if (expr->op == Op::Arg && bound != arguments_.end()) return bound->second;
  throw InternalError("llvm emitter", "no vector value of " + ir::print(expr) + " here");
}

Values VectorExpr::row_numbers(unsigned width) {
  Value *first = rows_.first_row, *last = rows_.last_row;
  llvm::Type* type = b_.getIntNTy(width);
  Value *base = b_.splat(b_.CreateTrunc(first, type)), *limit = b_.splat(b_.CreateTrunc(last, type));
  return each([&](size_t i) {
    Value* lane = b_.CreateAdd(b_.lane_numbers(width), b_.splat_int(static_cast<int64_t>(i) * b_.lanes(), width));
    return b_.smaller(b_.CreateAdd(base, lane), limit);
  });
}

Values VectorExpr::integer(const Expr& expr, unsigned width) {
  const Values value = eval(expr);
  if (bits(expr) == width) return value;
  return each([&](size_t i) { return b_.CreateSExtOrTrunc(value[i], b_.ints(width)); });
}

Values VectorExpr::integer_operation(const Expr& expr) {
  const unsigned width = bits(expr);
  if (expr->op == Op::Select) {
    const Values condition = eval(expr->operands[0]), yes = integer(expr->operands[1], width), no = integer(expr->operands[2], width);
    return each([&](size_t i) { return b_.CreateSelect(condition[i], yes[i], no[i]); });
  }
  const Values a = integer(expr->operands[0], width);
  const Values b = expr->operands.size() > 1 ? integer(expr->operands[1], width) : a;
  if (expr->op != Op::Div && expr->op != Op::Mod) {
    return each([&](size_t i) { return integer_arithmetic(b_, expr->op, a[i], b[i]); });
  }
  const DivisionFacts facts = {ir::as_int_constant(expr->operands[1]), ir::range(expr->operands[0], coordinate_ranges()).low >= 0};
  return each([&](size_t i) {
    return expr->op == Op::Div ? floor_divide(b_, a[i], b[i], facts) : floor_modulo(b_, a[i], b[i], facts);
  });
}

Value* VectorExpr::clamped_to_narrow(const Expr& scalar) {
  Value* value = varies(scalar) ? column_scalar_(scalar) : fixed_scalar_(scalar);
  value = b_.smaller(b_.larger(value, b_.constant(INT32_MIN)), b_.constant(INT32_MAX));
  return b_.CreateTrunc(value, b_.getInt32Ty());
}

Values VectorExpr::comparison(const Expr& expr) {
  const Expr &left = expr->operands[0], &right = expr->operands[1];
  if (left->type != Type::Int) {
    const Values a = eval(left), b = eval(right);
    const bool real = left->type == Type::Real;
    return each([&](size_t i) {
      return real ? real_comparison(b_, expr->op, a[i], b[i]) : integer_comparison(b_, expr->op, a[i], b[i]);
    });
  }
  const bool narrow_left = bits(left) == 32, narrow_right = bits(right) == 32;
  Values a, b;
  const auto exact = [&](const Expr& side) { return ir::fits(side, coordinate_ranges(), kComparesWithClamped); };
  if (narrow_left && !narrow_right && is_scalar(right) && exact(left)) {
    a = eval(left), b = broadcast(clamped_to_narrow(right));
  } else if (narrow_right && !narrow_left && is_scalar(left) && exact(right)) {
    a = broadcast(clamped_to_narrow(left)), b = eval(right);
  } else {
    const unsigned width = narrow_left && narrow_right ? 32 : 64;
    a = integer(left, width), b = integer(right, width);
  }
  return each([&](size_t i) { return integer_comparison(b_, expr->op, a[i], b[i]); });
}

Values VectorExpr::table_elements(const Expr& read) {
  std::vector<Values> indices;
  for (const Expr& index : read->operands) {
    const bool scalar = is_scalar(index);
    Value* value = !scalar ? nullptr : varies(index) ? column_scalar_(index) : fixed_scalar_(index);
    indices.push_back(scalar ? Values(static_cast<size_t>(rows_.vectors), value) : integer(index, 64));
  }
  return each([&](size_t i) {
    Values here;
    for (const Values& index : indices) here.push_back(index[i]);
    return fixed_scalar_.tables().elements(b_, *read, here, read->type == Type::Int ? bits(read) : 32);
  });
}

Values VectorExpr::to_real(const Expr& operand) {
  if (is_scalar(operand) && operand->type == Type::Int) {
    Value* scalar = varies(operand) ? column_scalar_(operand) : fixed_scalar_(operand);
    return broadcast(b_.CreateSIToFP(scalar, b_.getFloatTy()));
  }
  const Values value = eval(operand);
  return each([&](size_t i) { return b_.CreateSIToFP(value[i], b_.f32s()); });
}

Values VectorExpr::real_operation(const Expr& expr) {
  if (expr->op == Op::ToReal) return to_real(expr->operands[0]);
  const Values a = eval(expr->operands[0]);
  const Values b = expr->operands.size() > 1 ? eval(expr->operands[1]) : a;
  const Values c = expr->operands.size() > 2 ? eval(expr->operands[2]) : a;
  return each([&](size_t i) -> Value* {
    switch (expr->op) {
      case Op::Neg: return b_.CreateFNeg(a[i]);
      case Op::Add: return b_.CreateFAdd(a[i], b[i]);
      case Op::Sub: return b_.CreateFSub(a[i], b[i]);
      case Op::Mul: return b_.CreateFMul(a[i], b[i]);
      case Op::Div: return b_.CreateFDiv(a[i], b[i]);
      case Op::Abs: return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a[i]);
      case Op::Min: return math_.min(a[i], b[i]);
      case Op::Max: return math_.max(a[i], b[i]);
      case Op::Select: return b_.CreateSelect(a[i], b[i], c[i]);
      case Op::Exp: return math_.exp(a[i]);
      case Op::Log: return math_.log(a[i]);
      case Op::Tanh: return math_.tanh(a[i]);
      case Op::Sigmoid: return math_.sigmoid(a[i]);
      case Op::Sqrt: return math_.sqrt(a[i]);
      case Op::Exp2: return math_.exp2(a[i]);
      case Op::Log2: return math_.log2(a[i]);
      default: throw InternalError("llvm emitter", std::string("no f32 form of ") + ir::op_text(expr->op));
    }
  });
}

}  // namespace heddle::codegen
