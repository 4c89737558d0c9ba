// Random formulas of the whole mask language, as text: what users may write, not what isl likes.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>

namespace heddle::analysis::test {

/// Masks over q, k, the lengths, h and a dynamic parameter w, with every operator and function of integers.
class RandomFormula {
 public:
  explicit RandomFormula(uint64_t seed) : random_(seed) {}

  std::string mask(int depth = 3) {
    switch (depth <= 0 ? 9 : pick(10)) {
      case 0:
      case 1: return fmt::format("({} && {})", mask(depth - 1), mask(depth - 1));
      case 2:
      case 3: return fmt::format("({} || {})", mask(depth - 1), mask(depth - 1));
      case 4: return fmt::format("!({})", mask(depth - 1));
      case 5: return fmt::format("({} ? {} : {})", mask(depth - 2), mask(depth - 1), mask(depth - 2));
      default: return comparison();
    }
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

  std::string comparison() {
    static constexpr const char* kCompare[] = {"<", "<=", ">", ">=", "==", "!="};
    return fmt::format("{} {} {}", number(2), kCompare[pick(6)], number(pick(3) == 0 ? 2 : 1));
  }

  std::string leaf() {
    static constexpr const char* kNames[] = {"q", "k", "q", "k", "(q - k)", "Sq", "Sk", "w", "h"};
    const int kind = pick(13);
    return kind < 9 ? kNames[kind] : std::to_string(pick(4) == 0 ? pick(200) : pick(12));
  }

  /// Divisors are constants, mostly; a zero of a run-time divisor masks the pair.
  std::string divisor() {
    const int kind = pick(12);
    if (kind == 0) return "w";
    return kind == 1 ? fmt::format("(-{})", 1 + pick(9)) : std::to_string(1 + pick(kind < 4 ? 70 : 9));
  }

  std::string number(int depth) {
    if (depth <= 0) return leaf();
    switch (pick(14)) {
      case 0:
      case 1: return fmt::format("({} + {})", number(depth - 1), number(depth - 1));
      case 2:
      case 3: return fmt::format("({} - {})", number(depth - 1), number(depth - 1));
      case 4: return fmt::format("({} * {})", pick(7) - 2, number(depth - 1));
      case 5:
      case 6: return fmt::format("({} / {})", number(depth - 1), divisor());
      case 7:
      case 8: return fmt::format("({} % {})", number(depth - 1), divisor());
      case 9: return fmt::format("abs({})", number(depth - 1));
      case 10: return fmt::format("{}({}, {})", pick(2) == 0 ? "min" : "max", number(depth - 1), number(depth - 1));
      case 11: return pick(3) == 0 ? fmt::format("({} * {})", leaf(), leaf()) : fmt::format("-({})", number(depth - 1));
      case 12: return pick(2) == 0 ? fmt::format("clamp({}, {}, {})", number(depth - 1), pick(5), 5 + pick(20)) : leaf();
      default: return leaf();
    }
  }

  std::mt19937_64 random_;
};

}  // namespace heddle::analysis::test
