#include <algorithm>
#include <cmath>
#include <vector>
#include "src/ir/evaluate.h"
#include "src/ir/operations.h"
#include "src/ir/rewrite.h"

namespace heddle::ir {

Op opposite(Op op) {
  switch (op) {
    case Op::Lt: return Op::Ge;
    case Op::Le: return Op::Gt;
    case Op::Gt: return Op::Le;
    case Op::Ge: return Op::Lt;
    case Op::Eq: return Op::Ne;
    default: return Op::Eq;
  }
}

namespace {

bool is_constant(const Expr& e) { return e->op == Op::IntConst || e->op == Op::RealConst || e->op == Op::BoolConst; }
bool is_int(const Expr& e, int64_t value) { return e->op == Op::IntConst && e->integer == value; }
bool is_bool(const Expr& e, bool value) { return e->op == Op::BoolConst && (e->integer != 0) == value; }
bool is_one(const Expr& e) { return is_int(e, 1) || (e->op == Op::RealConst && e->real == 1.0); }
bool is_positive_zero(const Expr& e) { return e->op == Op::RealConst && e->real == 0.0 && !std::signbit(e->real); }

/// The value of an operation on constants. Null when it has no text form (a real that is not finite).
Expr fold(const Expr& e) {
  const Environment none;
  if (e->type == Type::Bool) return bool_const(evaluate_bool(e, none));
  if (e->type == Type::Int) return int_const(evaluate_int(e, none));
  const double value = evaluate_real(e, none);
  return std::isfinite(value) ? real_const(value) : nullptr;
}

/// x + c as a tree; c wraps.
Expr plus_constant(const Expr& x, int64_t c) {
  if (c == 0) return x;
  if (c < 0 && c != std::numeric_limits<int64_t>::min()) return make(Op::Sub, {x, int_const(-c)});
  return make(Op::Add, {x, int_const(c)});
}

/// Splits an Int tree into x + c, where x is null for a constant.
struct Offset { Expr x; int64_t c; };
Offset split(const Expr& e) {
  if (e->op == Op::IntConst) return {nullptr, e->integer};
  if (e->op == Op::Add && e->operands[1]->op == Op::IntConst) return {e->operands[0], e->operands[1]->integer};
  if (e->op == Op::Sub && e->operands[1]->op == Op::IntConst) return {e->operands[0], wrap_neg(e->operands[1]->integer)};
  return {e, 0};
}

Expr simplify_int_sum(const Expr& e) {
  const Offset a = split(e->operands[0]), b = split(e->operands[1]);
  const bool add = e->op == Op::Add;
  if (!b.x) return plus_constant(a.x, wrap_add(a.c, add ? b.c : wrap_neg(b.c)));
  if (!a.x) return add ? plus_constant(b.x, wrap_add(a.c, b.c)) : e->operands[0]->integer == 0 ? make(Op::Neg, {e->operands[1]}) : e;
  if (!add && equal(a.x, b.x)) return int_const(wrap_sub(a.c, b.c));
  return e;
}

Expr simplify_sum(const Expr& e) {
  if (e->type == Type::Int) return simplify_int_sum(e);
  return e->op == Op::Sub && is_positive_zero(e->operands[1]) ? e->operands[0] : e;
}

Expr simplify_product(const Expr& e) {
  const Expr &a = e->operands[0], &b = e->operands[1];
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  return is_int(a, 0) || is_int(b, 0) ? int_const(0) : e;
}

Expr simplify_quotient(const Expr& e) {
  const Expr &a = e->operands[0], &b = e->operands[1];
  if (e->op == Op::Div && is_one(b)) return a;
  if (e->type == Type::Real) return e;
  if (is_int(a, 0) || is_int(b, 0) || (e->op == Op::Mod && (is_int(b, 1) || is_int(b, -1)))) return int_const(0);
  return e;
}

Expr simplify_comparison(const Expr& e) {
  const Expr &a = e->operands[0], &b = e->operands[1];
  if (a->type != Type::Int || !equal(a, b)) return e;
  return bool_const(e->op == Op::Le || e->op == Op::Ge || e->op == Op::Eq);
}

Expr simplify_junction(const Expr& e) {
  const Expr &a = e->operands[0], &b = e->operands[1];
  const bool neutral = e->op == Op::And;
  if (is_bool(a, !neutral) || is_bool(b, !neutral)) return bool_const(!neutral);
  if (is_bool(a, neutral) || equal(a, b)) return b;
  return is_bool(b, neutral) ? a : e;
}

Expr simplify_not(const Expr& e) {
  const Expr& a = e->operands[0];
  switch (a->op) {
    case Op::Not: return a->operands[0];
    case Op::Eq: case Op::Ne: return make(opposite(a->op), a->operands);
    case Op::Lt: case Op::Le: case Op::Gt: case Op::Ge:
      return a->operands[0]->type == Type::Int ? make(opposite(a->op), a->operands) : e;
    default: return e;
  }
}

Expr simplify_select(const Expr& e) {
  const Expr &c = e->operands[0], &a = e->operands[1], &b = e->operands[2];
  if (c->op == Op::BoolConst) return c->integer ? a : b;
  if (equal(a, b)) return a;
  if (is_bool(a, true) && is_bool(b, false)) return c;
  return e;
}

/// One step at the root of a tree whose operands are simple.
Expr simplify_root(const Expr& e) {
  if (e->op != Op::Read && std::all_of(e->operands.begin(), e->operands.end(), is_constant)) {
    if (Expr value = fold(e)) return value;
  }
  switch (e->op) {
    case Op::Add: case Op::Sub: return simplify_sum(e);
    case Op::Mul: return simplify_product(e);
    case Op::Div: case Op::Mod: return simplify_quotient(e);
    case Op::Lt: case Op::Le: case Op::Gt: case Op::Ge: case Op::Eq: case Op::Ne: return simplify_comparison(e);
    case Op::And: case Op::Or: return simplify_junction(e);
    case Op::Not: return simplify_not(e);
    case Op::Select: return simplify_select(e);
    case Op::Neg: return e->operands[0]->op == Op::Neg ? e->operands[0]->operands[0] : e;
    case Op::Abs: return e->operands[0]->op == Op::Abs ? e->operands[0] : e;
    case Op::Min: case Op::Max: return equal(e->operands[0], e->operands[1]) ? e->operands[0] : e;
    default: return e;
  }
}

}  // namespace

Expr simplify(const Expr& expr) {
  return rebuild(expr, [](const Expr& e) { return e->operands.empty() ? e : simplify_root(e); });
}

}  // namespace heddle::ir
