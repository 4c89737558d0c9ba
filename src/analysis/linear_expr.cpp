#include "src/analysis/linear_expr.h"

#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

std::optional<Linear> sum(const Expr& expr, const std::string& variable) {
  const auto a = linear(expr->operands[0], variable), b = linear(expr->operands[1], variable);
  if (!a || !b) return std::nullopt;
  const int64_t sign = expr->op == Op::Sub ? -1 : 1;
  return Linear{a->coefficient + sign * b->coefficient, ir::make(expr->op, {a->rest, b->rest})};
}

std::optional<Linear> product(const Expr& expr, const std::string& variable) {
  for (int side : {0, 1}) {
    const auto factor = ir::as_int_constant(expr->operands[side]);
    const auto other = factor ? linear(expr->operands[1 - side], variable) : std::nullopt;
    if (other) return Linear{*factor * other->coefficient, ir::make(Op::Mul, {ir::int_const(*factor), other->rest})};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Linear> linear(const Expr& expr, const std::string& variable) {
  if (!ir::mentions(expr, variable)) return Linear{0, expr};
  switch (expr->op) {
    case Op::Var:
    case Op::Param: return Linear{1, ir::int_const(0)};
    case Op::Neg: {
      const auto a = linear(expr->operands[0], variable);
      return a ? std::optional(Linear{-a->coefficient, ir::make(Op::Neg, {a->rest})}) : std::nullopt;
    }
    case Op::Add:
    case Op::Sub: return sum(expr, variable);
    case Op::Mul: return product(expr, variable);
    default: return std::nullopt;
  }
}

bool any_mentions(const std::vector<Expr>& exprs, const std::string& variable) {
  for (const Expr& expr : exprs) {
    if (ir::mentions(expr, variable)) return true;
  }
  return false;
}

}  // namespace heddle::analysis
