// Interval arithmetic of bind programs: closed ranges of 64-bit integers that contain every value an operation can give.
//
// The operations are those of the formula language: floor division and modulo, x / 0 == x % 0 == 0. A result that may leave 64 bits is
// the full range, which holds the wrapped values too. Conditions are ranges within [0, 1].
#pragma once
#include <cstdint>
#include <limits>

namespace heddle::runtime {

struct Interval {
  int64_t low = 0, high = 0;
  bool operator==(const Interval&) const = default;
  bool single() const { return low == high; }
};

inline constexpr Interval kFull{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};

inline Interval hull(Interval a, Interval b) { return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}; }
inline Interval minimum(Interval a, Interval b) { return {a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high}; }
inline Interval maximum(Interval a, Interval b) { return {a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}; }

inline Interval add(Interval a, Interval b) {
  Interval sum;
  const bool low = __builtin_add_overflow(a.low, b.low, &sum.low), high = __builtin_add_overflow(a.high, b.high, &sum.high);
  return low || high ? kFull : sum;
}

inline Interval subtract(Interval a, Interval b) {
  Interval difference;
  const bool low = __builtin_sub_overflow(a.low, b.high, &difference.low), high = __builtin_sub_overflow(a.high, b.low, &difference.high);
  return low || high ? kFull : difference;
}

Interval multiply(Interval a, Interval b);
Interval divide(Interval a, Interval b);
Interval modulo(Interval a, Interval b);
Interval absolute(Interval a);

/// A condition from what is certain of it.
inline Interval condition(bool certainly, bool never) { return {certainly ? 1 : 0, never ? 0 : 1}; }
inline Interval negate(Interval a) { return {1 - a.high, 1 - a.low}; }
inline Interval less(Interval a, Interval b) { return condition(a.high < b.low, a.low >= b.high); }
inline Interval less_equal(Interval a, Interval b) { return condition(a.high <= b.low, a.low > b.high); }
inline Interval equal(Interval a, Interval b) { return condition(a.single() && a == b, a.high < b.low || b.high < a.low); }

}  // namespace heddle::runtime
