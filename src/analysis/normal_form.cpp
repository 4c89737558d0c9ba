#include "src/analysis/normal_form.h"
#include <utility>
#include "src/analysis/presburger.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::make;
using ir::Op;

constexpr int kMaxSteps = 20'000;

bool is_extremum(const Expr& e) { return e->op == Op::Min || e->op == Op::Max; }
bool is_choice(const Expr& e) { return is_extremum(e) || e->op == Op::Select; }
Op other_extremum(Op op) { return op == Op::Min ? Op::Max : Op::Min; }

/// How an operation behaves in one of its operands.
enum class Direction { Rising, Falling, Neither };

class Normalizer {
 public:
  Expr formula(const Expr& e, bool negated) {
    step();
    switch (e->op) {
      case Op::BoolConst: return ir::bool_const((e->integer != 0) != negated);
      case Op::Not: return formula(e->operands[0], !negated);
      case Op::And:
      case Op::Or: return junction((e->op == Op::And) != negated, formula(e->operands[0], negated), formula(e->operands[1], negated));
      case Op::Select:
        return either(e->operands[0], formula(e->operands[1], negated), formula(e->operands[2], negated));
      default: return comparison(e, negated);
    }
  }

 private:
  void step() {
    if (++steps_ > kMaxSteps) throw OverBudget("the formula grows too large without min, max, abs and ?:");
  }

  Expr junction(bool conjunction, Expr a, Expr b) {
    const int64_t neutral = conjunction ? 1 : 0;
    for (const Expr* side : {&a, &b}) {
      const Expr& rest = side == &a ? b : a;
      if ((*side)->op == Op::BoolConst) return (*side)->integer == neutral ? rest : *side;
    }
    return make(conjunction ? Op::And : Op::Or, {std::move(a), std::move(b)});
  }
  Expr both(Expr a, Expr b) { return junction(true, std::move(a), std::move(b)); }
  Expr any(Expr a, Expr b) { return junction(false, std::move(a), std::move(b)); }
  Expr either(const Expr& condition, const Expr& yes, const Expr& no) {
    return any(both(formula(condition, false), yes), both(formula(condition, true), no));
  }

  Expr comparison(const Expr& e, bool negated) {
    const Expr& a = e->operands.at(0);
    const Expr& b = e->operands.at(1);
    const Op op = negated ? ir::opposite(e->op) : e->op;
    if (a->type == ir::Type::Bool) {
      const bool same = op == Op::Eq;
      return any(both(formula(a, false), formula(b, !same)), both(formula(a, true), formula(b, same)));
    }
    if (a->type == ir::Type::Real) throw NotAffine(ir::print(e));
    if ((op == Op::Eq || op == Op::Ne) && a->op == Op::Mod && a->operands[0]->op == Op::Abs && ir::as_int_constant(b) == 0) {
      return compare(op, distribute(make(Op::Mod, {a->operands[0]->operands[0], a->operands[1]})));
    }
    return compare(op, distribute(make(Op::Sub, {a, b})));
  }

  /// `d op 0` where d may have choices at its top only.
  Expr compare(Op op, const Expr& d) {
    step();
    if (d->op == Op::Select) return either(d->operands[0], compare(op, d->operands[1]), compare(op, d->operands[2]));
    if (!is_extremum(d)) return ir::simplify(make(op, {ir::simplify(d), ir::int_const(0)}));
    const Expr& a = d->operands[0];
    const Expr& b = d->operands[1];
    const bool maximum = d->op == Op::Max;
    switch (op) {
      case Op::Lt:
      case Op::Le: return junction(maximum, compare(op, a), compare(op, b));
      case Op::Gt:
      case Op::Ge: return junction(!maximum, compare(op, a), compare(op, b));
      case Op::Eq: return both(compare(maximum ? Op::Le : Op::Ge, d), compare(maximum ? Op::Ge : Op::Le, d));
      default: return any(compare(maximum ? Op::Lt : Op::Gt, d), compare(maximum ? Op::Gt : Op::Lt, d));
    }
  }

  /// The same value with min, max and ?: at the top and nowhere below.
  Expr distribute(const Expr& e) {
    step();
    switch (e->op) {
      case Op::Abs: return distribute_abs(e->operands[0]);
      case Op::Min:
      case Op::Max: return make(e->op, {distribute(e->operands[0]), distribute(e->operands[1])});
      case Op::Select: return make(Op::Select, {e->operands[0], distribute(e->operands[1]), distribute(e->operands[2])});
      case Op::Neg: {
        const Expr x = distribute(e->operands[0]);
        return lift(x, Direction::Falling, [&](const Expr& y) { return make(Op::Neg, {y}); });
      }
      default: break;
    }
    if (e->operands.size() != 2) return e;
    const Expr a = distribute(e->operands[0]), b = distribute(e->operands[1]);
    const Op op = e->op;
    return lift(a, direction(op, b, true), [&](const Expr& x) {
      return lift(b, direction(op, x, false), [&](const Expr& y) { return make(op, {x, y}); });
    });
  }

  Expr distribute_abs(const Expr& operand) {
    const Expr x = distribute(operand);
    return make(Op::Max, {x, lift(x, Direction::Falling, [&](const Expr& y) { return make(Op::Neg, {y}); })});
  }

  static Direction direction(Op op, const Expr& other, bool left) {
    const std::optional<int64_t> constant = ir::as_int_constant(other);
    switch (op) {
      case Op::Add: return Direction::Rising;
      case Op::Sub: return left ? Direction::Rising : Direction::Falling;
      case Op::Mul:
        if (!constant) return Direction::Neither;
        return *constant >= 0 ? Direction::Rising : Direction::Falling;
      case Op::Div:
        if (!left || !constant) return Direction::Neither;
        return *constant >= 0 ? Direction::Rising : Direction::Falling;
      default: return Direction::Neither;
    }
  }

  /// Applies `f` to every alternative of a choice.
  template <class F>
  Expr lift(const Expr& x, Direction direction, const F& f) {
    if (!is_choice(x)) return f(x);
    step();
    if (x->op == Op::Select) {
      return make(Op::Select, {x->operands[0], lift(x->operands[1], direction, f), lift(x->operands[2], direction, f)});
    }
    const Expr a = lift(x->operands[0], direction, f), b = lift(x->operands[1], direction, f);
    if (direction == Direction::Rising) return make(x->op, {a, b});
    if (direction == Direction::Falling) return make(other_extremum(x->op), {a, b});
    const Expr first = make(x->op == Op::Min ? Op::Le : Op::Ge, {x->operands[0], x->operands[1]});
    return make(Op::Select, {first, a, b});
  }

  int steps_ = 0;
};

}  // namespace

Expr normal_form(const Expr& mask, bool negated) { return Normalizer().formula(mask, negated); }

}  // namespace heddle::analysis
