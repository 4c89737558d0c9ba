#include "runtime/bind_interval.h"

#include <algorithm>

namespace heddle::runtime {

namespace {

__extension__ using Wide = __int128;

Interval saturate(Wide low, Wide high) {
  if (low < kFull.low || high > kFull.high) return kFull;
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

Wide floor_quotient(Wide a, Wide b) {
  const Wide quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

/// Of a positive divisor.
int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// Quotients by divisors of one sign are monotone in both operands, so the extremes stand at the corners.
Interval divide_one_sign(Interval a, Interval b) {
  const auto at = [](int64_t x, int64_t y) { return floor_quotient(Wide{x}, Wide{y}); };
  const auto [low, high] = std::minmax({at(a.low, b.low), at(a.low, b.high), at(a.high, b.low), at(a.high, b.high)});
  return saturate(low, high);
}

Interval modulo_one_sign(Interval a, Interval b) {
  if (b.single() && floor_quotient(Wide{a.low}, Wide{b.low}) == floor_quotient(Wide{a.high}, Wide{b.low})) {
    const auto rest = [&](int64_t x) { return Wide{x} - floor_quotient(Wide{x}, Wide{b.low}) * b.low; };
    return saturate(rest(a.low), rest(a.high));
  }
  if (b.low > 0) return a.low >= 0 ? Interval{0, std::min(a.high, b.high - 1)} : Interval{0, b.high - 1};
  return a.high <= 0 ? Interval{std::max(a.low, b.low + 1), 0} : Interval{b.low + 1, 0};
}

/// The hull over the negative, zero and positive divisors in `b`.
template <typename Part>
Interval by_sign(Interval a, Interval b, Part part) {
  Interval result;
  bool any = false;
  const auto join = [&](Interval found) { result = any ? hull(result, found) : found, any = true; };
  if (b.low < 0) join(part(a, Interval{b.low, std::min<int64_t>(b.high, -1)}));
  if (b.low <= 0 && b.high >= 0) join({0, 0});
  if (b.high > 0) join(part(a, Interval{std::max<int64_t>(b.low, 1), b.high}));
  return result;
}

}  // namespace

Interval multiply(Interval a, Interval b) {
  const auto [low, high] = std::minmax({Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high});
  return saturate(low, high);
}

Interval divide(Interval a, Interval b) {
  if (b.single() && b.low > 0) return {floor_quotient(a.low, b.low), floor_quotient(a.high, b.low)};
  return by_sign(a, b, divide_one_sign);
}

Interval modulo(Interval a, Interval b) {
  if (b.single() && b.low > 0) {
    const int64_t low = floor_quotient(a.low, b.low);
    if (low != floor_quotient(a.high, b.low)) return {0, b.low - 1};
    const auto rest = [&](int64_t x) { return x % b.low + (x % b.low < 0 ? b.low : 0); };
    return {rest(a.low), rest(a.high)};
  }
  return by_sign(a, b, modulo_one_sign);
}

Interval absolute(Interval a) {
  if (a.low >= 0) return a;
  const Wide below = -Wide{a.low};
  return a.high <= 0 ? saturate(-Wide{a.high}, below) : saturate(0, std::max<Wide>(below, a.high));
}

}  // namespace heddle::runtime
