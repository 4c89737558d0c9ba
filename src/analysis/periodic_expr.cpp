#include "src/analysis/periodic_expr.h"

#include <numeric>

#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

/// Finds p and d with f(v + p) = f(v) + d for all v.
struct Drift {
  struct Step {
    int64_t period = 1, change = 0;
  };
  const std::string& variable;
  int64_t longest;

  std::optional<Step> of(const Expr& expr) const {
    if (!ir::mentions(expr, variable)) return Step{};
    switch (expr->op) {
      case Op::Var:
      case Op::Param: return Step{1, 1};
      case Op::Neg: return scaled(of(expr->operands[0]), -1);
      case Op::Add: return added(of(expr->operands[0]), of(expr->operands[1]));
      case Op::Sub: return added(of(expr->operands[0]), scaled(of(expr->operands[1]), -1));
      case Op::Mul: return product(expr);
      case Op::Div:
      case Op::Mod: return digit(expr);
      default: return unchanged(expr);
    }
  }

 private:
  std::optional<Step> checked(int64_t period, __int128 change) const {
    constexpr int64_t kMost = int64_t{1} << 40;
    if (period > longest || change > kMost || change < -kMost) return std::nullopt;
    return Step{period, static_cast<int64_t>(change)};
  }

  std::optional<Step> scaled(const std::optional<Step>& step, int64_t factor) const {
    return step ? checked(step->period, __int128{step->change} * factor) : std::nullopt;
  }

  std::optional<Step> added(const std::optional<Step>& a, const std::optional<Step>& b) const {
    if (!a || !b) return std::nullopt;
    const int64_t both = std::lcm(a->period, b->period);
    return checked(both, __int128{a->change} * (both / a->period) + __int128{b->change} * (both / b->period));
  }

  std::optional<Step> product(const Expr& expr) const {
    for (int side : {0, 1}) {
      if (const auto factor = ir::as_int_constant(expr->operands[side])) return scaled(of(expr->operands[1 - side]), *factor);
    }
    return unchanged(expr);
  }

  std::optional<Step> digit(const Expr& expr) const {
    const auto divisor = ir::as_int_constant(expr->operands[1]);
    if (!divisor || *divisor <= 0) return unchanged(expr);
    const auto inside = of(expr->operands[0]);
    if (!inside) return std::nullopt;
    const int64_t times = *divisor / std::gcd(*divisor, inside->change);
    if (times > longest / inside->period) return std::nullopt;
    const int64_t change = expr->op == Op::Mod ? 0 : inside->change / (*divisor / times);
    return checked(inside->period * times, change);
  }

  /// Where every operand is periodic, so is the value.
  std::optional<Step> unchanged(const Expr& expr) const {
    int64_t all = 1;
    for (const Expr& operand : expr->operands) {
      const auto own = of(operand);
      if (!own || own->change != 0 || (all = std::lcm(all, own->period)) > longest) return std::nullopt;
    }
    return Step{all, 0};
  }
};

}  // namespace

std::optional<int64_t> period(const Expr& expr, const std::string& variable, int64_t longest) {
  const auto found = Drift{variable, longest}.of(expr);
  return found && found->change == 0 ? std::optional(found->period) : std::nullopt;
}

}  // namespace heddle::analysis
