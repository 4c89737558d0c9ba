#include "src/ir/narrow.h"

#include <algorithm>

namespace heddle::ir {
namespace {

__extension__ using Wide = __int128;

constexpr int kDeepest = 64;  ///< Deeper terms are left as they are: each level looks at the ranges of its operands again.

/// The default bounds nothing; products of bounds and 64-bit integers stay within Wide.
constexpr Wide kBeyond = Wide{1} << 63;
struct Bounds {
  Wide low = -kBeyond, high = kBeyond;
};

Wide floor_quotient(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

class Narrowing {
 public:
  explicit Narrowing(Box& box) : box_(box) {}

  bool alive = true;

  void condition(const Expr& e, bool holds) {
    switch (e->op) {
      case Op::BoolConst: return require((e->integer != 0) == holds);
      case Op::Not: return condition(e->operands[0], !holds);
      case Op::And: return holds ? both(e, true) : void();
      case Op::Or: return holds ? void() : both(e, false);
      case Op::Lt: case Op::Le: case Op::Gt: case Op::Ge: case Op::Eq: case Op::Ne: break;
      default: return;
    }
    if (e->operands[0]->type != Type::Int || e->depth > kDeepest) return;
    comparison(holds ? e->op : opposite(e->op), e->operands[0], e->operands[1]);
  }

 private:
  void both(const Expr& e, bool holds) {
    for (const Expr& operand : e->operands) condition(operand, holds);
  }
  void require(bool possible) { alive = alive && possible; }

  void comparison(Op op, const Expr& a, const Expr& b) {
    switch (op) {
      case Op::Gt: return comparison(Op::Lt, b, a);
      case Op::Ge: return comparison(Op::Le, b, a);
      case Op::Lt: return ordered(a, b, 1);
      case Op::Le: return ordered(a, b, 0);
      case Op::Eq: ordered(a, b, 0); return ordered(b, a, 0);
      default: return;
    }
  }

  /// a + gap <= b.
  void ordered(const Expr& a, const Expr& b, int64_t gap) {
    const Interval low = range(a, box_), high = range(b, box_);
    term(a, {.high = Wide{high.high} - gap});
    term(b, {.low = Wide{low.low} + gap});
  }

  void variable(const std::string& name, Bounds to) {
    Interval& range = box_.try_emplace(name, Interval::full()).first->second;
    const Wide low = std::max<Wide>(range.low, to.low), high = std::min<Wide>(range.high, to.high);
    require(low <= high);
    if (alive) range = {static_cast<int64_t>(low), static_cast<int64_t>(high)};
  }

  /// The value of `e` lies in `to`. Where it may wrap, nothing is known of its operands.
  void term(const Expr& e, Bounds to) {
    if (!alive) return;
    to = {std::clamp(to.low, -kBeyond, kBeyond), std::clamp(to.high, -kBeyond, kBeyond)};
    if (e->op == Op::Var || e->op == Op::Param) return variable(e->name, to);
    const Interval own = range(e, box_);
    require(own.low <= to.high && own.high >= to.low);
    if (!alive || own == Interval::full()) return;
    if (e->operands.size() == 1) return unary(*e, to);
    if (e->operands.size() == 2) binary(*e, to);
  }

  void unary(const ExprNode& e, Bounds to) {
    if (e.op == Op::Neg) term(e.operands[0], {-to.high, -to.low});
    if (e.op == Op::Abs) term(e.operands[0], {-to.high, to.high});
  }

  void binary(const ExprNode& e, Bounds to) {
    const Expr &a = e.operands[0], &b = e.operands[1];
    const Interval left = range(a, box_), right = range(b, box_);
    switch (e.op) {
      case Op::Add:
        term(a, {to.low - right.high, to.high - right.low});
        return term(b, {to.low - left.high, to.high - left.low});
      case Op::Sub:
        term(a, {to.low + right.low, to.high + right.high});
        return term(b, {left.low - to.high, left.high - to.low});
      case Op::Mul: return left.low == left.high ? factor(b, left.low, to) : right.low == right.high ? factor(a, right.low, to) : void();
      case Op::Div:
        if (right.low == right.high && right.low > 0) term(a, {to.low * right.low, to.high * right.low + right.low - 1});
        return;
      case Op::Min:
        term(a, {.low = to.low});
        return term(b, {.low = to.low});
      case Op::Max:
        term(a, {.high = to.high});
        return term(b, {.high = to.high});
      default: return;
    }
  }

  /// e * by lies in `to`.
  void factor(const Expr& e, int64_t by, Bounds to) {
    if (by == 0) return;
    if (by < 0) to = {-to.high, -to.low};
    const Wide positive = by < 0 ? -Wide{by} : Wide{by};
    term(e, {-floor_quotient(-to.low, positive), floor_quotient(to.high, positive)});
  }

  Box& box_;
};

}  // namespace

bool narrow(const Expr& condition, bool holds, Box& box) {
  Narrowing narrowing(box);
  narrowing.condition(condition, holds);
  return narrowing.alive;
}

}  // namespace heddle::ir
