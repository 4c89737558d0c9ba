// Random masks, as text, that facts are tested on.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>

namespace heddle::analysis::test {

/// Boolean combinations of comparisons that isl can take, and now and then one that it cannot.
class RandomMask {
 public:
  explicit RandomMask(uint64_t seed) : random_(seed) {}
  std::string text(int depth = 2) {
    if (depth == 0) return atom();
    switch (pick(4)) {
      case 0: return fmt::format("({} || {})", text(depth - 1), text(depth - 1));
      case 1: return fmt::format("!({})", text(depth - 1));
      default: return fmt::format("({} && {})", text(depth - 1), text(depth - 1));
    }
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  std::string atom() {
    const int c = pick(80), m = 2 + pick(40), r = pick(m);
    switch (pick(13)) {
      case 0: return fmt::format("k <= q + {}", c - 40);
      case 1: return fmt::format("abs(q - k) <= {}", c);
      case 2: return fmt::format("(q - k) % {} <= {}", m, r);
      case 3: return fmt::format("k % {} >= {}", m, r);
      case 4: return fmt::format("q / {0} == k / {0}", m);
      case 5: return fmt::format("k < {}", c);
      case 6: return fmt::format("q % {0} == k % {0}", m);
      case 7: return fmt::format("2 * k <= q + {}", c);
      case 8: return fmt::format("k <= q + Sk - Sq - {}", c - 40);
      case 9: return fmt::format("max(q, k) % {} != {}", m, r);
      case 10: return fmt::format("(q + 3 * k) % {} < {}", m, r + 1);
      case 11: return fmt::format("k % {} / 3 == 1", m);
      default: return pick(6) == 0 ? fmt::format("(q * k) % {} <= {}", m, r) : fmt::format("q >= {}", c);
    }
  }
  std::mt19937_64 random_;
};

}  // namespace heddle::analysis::test
