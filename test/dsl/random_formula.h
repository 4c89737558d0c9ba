// Random formulas of every type, built through the public C++ operators, for property tests.
#pragma once
#include <cstdint>
#include <limits>
#include <random>
#include "heddle/error.h"
#include "heddle/formula.h"
#include "src/ir/evaluate.h"
#include "src/ir/expr.h"

namespace heddle::testing {

class RandomFormula {
 public:
  explicit RandomFormula(uint64_t seed) : random_(seed) {}

  /// Trees of up to `depth` operations on a path. What the front door refuses (constant overflow, zero divisors) is drawn again.
  Index integer(int depth) {
    return retry([&]() -> Index {
      if (depth == 0 || pick(6) == 0) return integer_leaf();
      const Index a = integer(depth - 1), b = integer(depth - 1);
      switch (pick(10)) {
        case 0: return a + b;
        case 1: return a - b;
        case 2: return a * b;
        case 3: return a / b;
        case 4: return a % b;
        case 5: return -a;
        case 6: return abs(a);
        case 7: return min(a, b);
        case 8: return max(a, b);
        default: return select(condition(depth - 1, false), a, b);
      }
    });
  }

  Real real(int depth) {
    return retry([&]() -> Real {
      if (depth == 0 || pick(6) == 0) return real_leaf();
      const Real a = real(depth - 1), b = real(depth - 1);
      switch (pick(15)) {
        case 0: return a + b;
        case 1: return a - b;
        case 2: return a * b;
        case 3: return a / b;
        case 4: return -a;
        case 5: return abs(a);
        case 6: return min(a, b);
        case 7: return max(a, b);
        case 8: return exp(a);
        case 9: return tanh(a);
        case 10: return sigmoid(a);
        case 11: return softcap(a, b);
        case 12: return pick(2) ? log(a) : sqrt(a);
        case 13: return Real(integer(depth - 1));
        default: return select(condition(depth - 1, true), a, b);
      }
    });
  }

  Condition condition(int depth, bool reals) {
    return retry([&]() -> Condition {
      if (depth == 0) return Condition(pick(2) == 0);
      switch (pick(reals ? 12 : 10)) {
        case 0: return integer(depth - 1) < integer(depth - 1);
        case 1: return integer(depth - 1) <= integer(depth - 1);
        case 2: return integer(depth - 1) > integer(depth - 1);
        case 3: return integer(depth - 1) >= integer(depth - 1);
        case 4: return integer(depth - 1) == integer(depth - 1);
        case 5: return integer(depth - 1) != integer(depth - 1);
        case 6: return !condition(depth - 1, reals);
        case 7: return condition(depth - 1, reals) && condition(depth - 1, reals);
        case 8: return condition(depth - 1, reals) || condition(depth - 1, reals);
        case 9: return choice(depth, reals);
        case 10: return real(depth - 1) < real(depth - 1);
        default: return real(depth - 1) >= real(depth - 1);
      }
    });
  }

  /// Values of every leaf: small, of either sign, zero, and the extremes of int64.
  ir::Environment environment() {
    ir::Environment values;
    for (const char* name : {"b", "h", "q", "k", "B", "H", "Hkv", "Sq", "Sk", "off"}) values.ints[name] = integer_value();
    for (const char* name : {"s", "t"}) values.reals[name] = real_value();
    return values;
  }

  uint64_t pick(uint64_t count) { return random_() % count; }

  int64_t integer_value() {
    constexpr int64_t kExtremes[] = {0, 1, -1, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    if (pick(4) == 0) return kExtremes[pick(5)];
    return static_cast<int64_t>(pick(200)) - 100;
  }

  double real_value() {
    constexpr double kSpecial[] = {0.0, -0.0, 1.0, -1.0, 1e300, 5e-324, 0.1, std::numeric_limits<double>::max()};
    return pick(3) == 0 ? kSpecial[pick(8)] : (static_cast<double>(pick(2000)) - 1000) / 128;
  }

 private:
  template <typename Make>
  auto retry(Make make) -> decltype(make()) {
    for (;;) {
      try {
        return make();
      } catch (const UserError&) {
      }
    }
  }

  Condition choice(int depth, bool reals) {
    const Condition c = condition(depth - 1, reals), a = condition(depth - 1, reals), b = condition(depth - 1, reals);
    return Condition(ir::make(ir::Op::Select, {c.node(), a.node(), b.node()}));
  }

  Index integer_leaf() {
    constexpr const char* kNames[] = {"b", "h", "q", "k", "B", "H", "Hkv", "Sq", "Sk"};
    switch (pick(4)) {
      case 0: return Index(integer_value());
      case 1: return int_parameter("off");
      default: return variable(kNames[pick(9)]);
    }
  }

  Real real_leaf() {
    switch (pick(4)) {
      case 0: return Real(real_value());
      case 1: return real_parameter("t");
      case 2: return Real(integer_leaf());
      default: return score_variable();
    }
  }

  std::mt19937_64 random_;
};

}  // namespace heddle::testing
