#include "src/codegen/llvm/scalar_expr.h"

#include "heddle/error.h"
#include "src/codegen/llvm/integer_ops.h"
#include "src/ir/rewrite.h"

namespace heddle::codegen {

using ir::Op;
using ir::Type;

void ScalarExpr::define(const std::string& name, Value* value) {
  names_[name] = value;
  std::erase_if(memo_, [&](const auto& entry) { return ir::mentions(entry.first, name); });
}

Value* ScalarExpr::operator()(const ir::Expr& expr) {
  const auto found = memo_.find(expr);
  if (found != memo_.end()) return found->second;
  Value* value = emit(expr);
  memo_.emplace(expr, value);
  return value;
}

Value* ScalarExpr::leaf(const ir::ExprNode& node) {
  switch (node.op) {
    case Op::IntConst: return b_->constant(node.integer);
    case Op::BoolConst: return b_->getInt1(node.integer != 0);
    case Op::Var:
    case Op::Param: {
      const auto found = names_.find(node.name);
      if (found != names_.end() && node.type == Type::Int) return found->second;
      throw InternalError("llvm emitter", "no scalar value of '" + node.name + "' here");
    }
    default: throw InternalError("llvm emitter", std::string("not a scalar integer: ") + ir::op_text(node.op));
  }
}

Value* ScalarExpr::emit(const ir::Expr& expr) {
  const ir::ExprNode& node = *expr;
  if (node.operands.empty()) return leaf(node);
  Values in;
  for (const ir::Expr& operand : node.operands) in.push_back((*this)(operand));
  if (node.op == Op::Read) return tables_.element(*b_, node, in);
  if (node.type == Type::Real || node.operands.back()->type == Type::Real) {
    throw InternalError("llvm emitter", "a scalar expression has Real parts: " + ir::print(expr));
  }
  Value *a = in[0], *b = in.size() > 1 ? in[1] : nullptr;
  switch (node.op) {
    case Op::And: return b_->CreateAnd(a, b);
    case Op::Or: return b_->CreateOr(a, b);
    case Op::Not: return b_->CreateNot(a);
    case Op::Select: return b_->CreateSelect(a, b, in[2]);
    case Op::Div: return floor_divide(*b_, a, b, {ir::as_int_constant(node.operands[1])});
    case Op::Mod: return floor_modulo(*b_, a, b, {ir::as_int_constant(node.operands[1])});
    case Op::Lt: case Op::Le: case Op::Gt: case Op::Ge: case Op::Eq: case Op::Ne:
      return integer_comparison(*b_, node.op, a, b);
    default: return integer_arithmetic(*b_, node.op, a, b);
  }
}

}  // namespace heddle::codegen
