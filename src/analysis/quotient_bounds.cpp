#include "src/analysis/quotient_bounds.h"

#include <optional>
#include <utility>

#include "src/analysis/linear_expr.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

constexpr const char* kQuotient = "the quotient";  ///< No name of a formula.

Expr sum(const Expr& a, const Expr& b) { return ir::make(Op::Add, {a, b}); }
Expr difference(const Expr& a, const Expr& b) { return ir::make(Op::Sub, {a, b}); }
Expr product(int64_t factor, const Expr& a) { return ir::make(Op::Mul, {ir::int_const(factor), a}); }
Expr floor_of(const Expr& a, int64_t divisor) { return ir::make(Op::Div, {a, ir::int_const(divisor)}); }
Expr ceil_of(const Expr& a, int64_t divisor) { return ir::make(Op::Neg, {floor_of(ir::make(Op::Neg, {a}), divisor)}); }

/// What is not negative where the comparison holds; null for other conditions.
Expr excess(const Expr& condition) {
  if (condition->operands.size() != 2) return nullptr;
  const Expr &a = condition->operands[0], &b = condition->operands[1], one = ir::int_const(1);
  switch (condition->op) {
    case Op::Ge: return difference(a, b);
    case Op::Le: return difference(b, a);
    case Op::Gt: return difference(difference(a, b), one);
    case Op::Lt: return difference(difference(b, a), one);
    default: return nullptr;
  }
}

/// (scale * v + rest) / divisor, the only part of an expression that mentions v.
struct Quotient {
  int64_t scale = 0, divisor = 0;
  Expr rest;
};

class QuotientFinder {
 public:
  explicit QuotientFinder(const std::string& variable) : variable_(variable) {}

  /// The expression with kQuotient in place of the quotient; null where v occurs otherwise, or in two different quotients.
  Expr replace(const Expr& expr) {
    if (!ir::mentions(expr, variable_)) return expr;
    if (expr->op == Op::Div && take(expr)) return ir::var(kQuotient);
    if (expr->op == Op::Div || expr->operands.empty()) return nullptr;
    std::vector<Expr> operands;
    for (const Expr& operand : expr->operands) {
      operands.push_back(replace(operand));
      if (!operands.back()) return nullptr;
    }
    return ir::make(expr->op, operands);
  }
  const std::optional<Quotient>& found() const { return found_; }

 private:
  bool take(const Expr& expr) {
    if (first_) return ir::equal(first_, expr);
    const Expr& divisor = expr->operands[1];
    const auto dividend = linear(expr->operands[0], variable_);
    if (divisor->op != Op::IntConst || divisor->integer <= 0 || !dividend || dividend->coefficient <= 0) return false;
    first_ = expr;
    found_ = {dividend->coefficient, divisor->integer, dividend->rest};
    return true;
  }

  const std::string& variable_;
  Expr first_;
  std::optional<Quotient> found_;
};

bool take_bound(const Expr& condition, ir::Loop& loop) {
  const Expr over = excess(condition);
  if (!over) return false;
  QuotientFinder finder(loop.variable);
  const Expr replaced = finder.replace(over);
  const auto split = replaced && finder.found() ? linear(replaced, kQuotient) : std::nullopt;
  if (!split || split->coefficient == 0) return false;
  const Quotient& quotient = *finder.found();
  if (split->coefficient > 0) {  // the quotient is at least ...
    const Expr least = ceil_of(ir::make(Op::Neg, {split->rest}), split->coefficient);
    loop.lower.push_back(ir::simplify(ceil_of(difference(product(quotient.divisor, least), quotient.rest), quotient.scale)));
  } else {
    const Expr most = floor_of(split->rest, -split->coefficient);
    const Expr last = sum(product(quotient.divisor, most), ir::int_const(quotient.divisor - 1));
    loop.upper.push_back(ir::simplify(floor_of(difference(last, quotient.rest), quotient.scale)));
  }
  return true;
}

}  // namespace

ir::NestPiece with_quotient_bounds(ir::NestPiece piece) {
  if (piece.loops.empty()) return piece;
  std::erase_if(piece.inner, [&](const Expr& condition) { return take_bound(condition, piece.loops.back()); });
  return piece;
}

}  // namespace heddle::analysis
