#include <algorithm>
#include <limits>
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"

namespace heddle::ir {

namespace {

__extension__ using Wide = __int128;

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min(), kHighest = std::numeric_limits<int64_t>::max();

Interval saturate(Wide low, Wide high) {
  if (low < kLowest || high > kHighest) return Interval::full();
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }
bool contains(Interval a, int64_t value) { return a.low <= value && value <= a.high; }

Wide floor_div_wide(Wide a, Wide b) {
  const Wide quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

Interval multiply(Interval a, Interval b) {
  const auto [low, high] = std::minmax({Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high});
  return saturate(low, high);
}

/// Quotients by divisors of one sign: extremes stand at the corners.
Interval divide_one_sign(Interval a, Interval b) {
  const auto at = [](int64_t x, int64_t y) { return floor_div_wide(x, y); };
  const auto [low, high] = std::minmax({at(a.low, b.low), at(a.low, b.high), at(a.high, b.low), at(a.high, b.high)});
  return saturate(low, high);
}

/// Collects the results of the negative, zero and positive divisors in `b` (x / 0 == x % 0 == 0).
template <typename Part>
Interval by_sign(Interval a, Interval b, Part part) {
  std::optional<Interval> result;
  const auto add = [&](Interval found) { result = result ? hull(*result, found) : found; };
  if (b.low < 0) add(part(a, Interval{b.low, std::min<int64_t>(b.high, -1)}));
  if (contains(b, 0)) add({0, 0});
  if (b.high > 0) add(part(a, Interval{std::max<int64_t>(b.low, 1), b.high}));
  return *result;
}

Interval modulo_one_sign(Interval a, Interval b) {
  if (b.low == b.high && floor_div_wide(a.low, b.low) == floor_div_wide(a.high, b.low)) {
    return {floor_mod(a.low, b.low), floor_mod(a.high, b.low)};
  }
  if (b.low > 0) return a.low >= 0 ? Interval{0, std::min(a.high, b.high - 1)} : Interval{0, b.high - 1};
  return a.high <= 0 ? Interval{std::max(a.low, b.low + 1), 0} : Interval{b.low + 1, 0};
}

Interval absolute(Interval a) {
  if (a.low >= 0) return a;
  const Wide below = -Wide{a.low};
  return a.high <= 0 ? saturate(-Wide{a.high}, below) : saturate(0, std::max<Wide>(below, a.high));
}

/// What is known of a condition.
enum class Truth { False, True, Unknown };

Truth known(bool yes, bool no) { return yes ? Truth::True : no ? Truth::False : Truth::Unknown; }
Truth negate(Truth t) { return t == Truth::Unknown ? t : t == Truth::True ? Truth::False : Truth::True; }

/// One pass over a tree: ranges of Int nodes, truths of Bool nodes, and whether every Int node stayed within `within`.
class RangeAnalysis {
 public:
  RangeAnalysis(const std::map<std::string, Interval>& ranges, Interval within) : ranges_(ranges), within_(within) {}

  bool fits = true;

  Interval integer(const ExprNode& node) {
    const Interval result = compute(node);
    fits = fits && within_.low <= result.low && result.high <= within_.high;
    return result;
  }

  Truth boolean(const ExprNode& node) {
    const auto operand = [&](size_t i) -> const ExprNode& { return *node.operands[i]; };
    switch (node.op) {
      case Op::BoolConst: return known(node.integer != 0, node.integer == 0);
      case Op::Not: return negate(boolean(operand(0)));
      case Op::And: return negate(either(negate(boolean(operand(0))), negate(boolean(operand(1)))));
      case Op::Or: return either(boolean(operand(0)), boolean(operand(1)));
      case Op::Select: return choose(boolean(operand(0)), boolean(operand(1)), boolean(operand(2)));
      default: break;
    }
    if (operand(0).type == Type::Int) return compare(node.op, integer(operand(0)), integer(operand(1)));
    real(operand(0));
    real(operand(1));
    return Truth::Unknown;
  }

  /// Only visits the Int and Bool nodes below.
  void real(const ExprNode& node) {
    for (const Expr& operand : node.operands) visit(*operand);
  }

  void visit(const ExprNode& node) {
    if (node.type == Type::Int) integer(node);
    if (node.type == Type::Bool) boolean(node);
    if (node.type == Type::Real) real(node);
  }

 private:
  static Truth either(Truth a, Truth b) {
    return known(a == Truth::True || b == Truth::True, a == Truth::False && b == Truth::False);
  }
  static Truth choose(Truth condition, Truth a, Truth b) {
    if (condition != Truth::Unknown) return condition == Truth::True ? a : b;
    return a == b ? a : Truth::Unknown;
  }
  static Truth compare(Op op, Interval a, Interval b) {
    switch (op) {
      case Op::Lt: return known(a.high < b.low, a.low >= b.high);
      case Op::Le: return known(a.high <= b.low, a.low > b.high);
      case Op::Gt: return compare(Op::Lt, b, a);
      case Op::Ge: return compare(Op::Le, b, a);
      case Op::Eq: return known(a.low == a.high && a == b, a.high < b.low || b.high < a.low);
      default: return negate(compare(Op::Eq, a, b));
    }
  }

  Interval named(const std::string& name) const {
    const auto found = ranges_.find(name);
    return found == ranges_.end() ? Interval::full() : found->second;
  }

  Interval select(const ExprNode& node) {
    const Truth condition = boolean(*node.operands[0]);
    const Interval a = integer(*node.operands[1]), b = integer(*node.operands[2]);
    return condition == Truth::True ? a : condition == Truth::False ? b : hull(a, b);
  }

  Interval element(const ExprNode& node) {
    for (const Expr& index : node.operands) integer(*index);
    switch (element_type(node)) {
      case DType::Int32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
      case DType::UInt8: return {0, 255};
      case DType::Bool: return {0, 1};
      default: return Interval::full();
    }
  }

  Interval compute(const ExprNode& node) {
    switch (node.op) {
      case Op::IntConst: return {node.integer, node.integer};
      case Op::Var: case Op::Param: return named(node.name);
      case Op::Select: return select(node);
      case Op::Read: return element(node);
      default: break;
    }
    const Interval a = integer(*node.operands[0]);
    if (node.op == Op::Neg) return saturate(-Wide{a.high}, -Wide{a.low});
    if (node.op == Op::Abs) return absolute(a);
    return binary(node.op, a, integer(*node.operands[1]));
  }

  static Interval binary(Op op, Interval a, Interval b) {
    switch (op) {
      case Op::Add: return saturate(Wide{a.low} + b.low, Wide{a.high} + b.high);
      case Op::Sub: return saturate(Wide{a.low} - b.high, Wide{a.high} - b.low);
      case Op::Mul: return multiply(a, b);
      case Op::Div: return by_sign(a, b, divide_one_sign);
      case Op::Mod: return by_sign(a, b, modulo_one_sign);
      case Op::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
      default: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
  }

  const std::map<std::string, Interval>& ranges_;
  Interval within_;
};

}  // namespace

Interval Interval::full() { return {kLowest, kHighest}; }

Interval range(const Expr& expr, const std::map<std::string, Interval>& ranges) {
  return RangeAnalysis(ranges, Interval::full()).integer(*expr);
}

bool fits(const Expr& expr, const std::map<std::string, Interval>& ranges, Interval within) {
  RangeAnalysis analysis(ranges, within);
  analysis.visit(*expr);
  return analysis.fits;
}

}  // namespace heddle::ir
