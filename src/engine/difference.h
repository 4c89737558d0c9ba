// How far a computed number is from the expected one, where neither need be finite.
#pragma once
#include <cmath>
#include <limits>

namespace heddle::engine {

/// |found - expected|; 0 when both are the same infinity or both NaN; infinite when only one is finite or they are unlike.
inline double difference(double found, double expected) {
  const double d = std::abs(found - expected);
  if (std::isfinite(d)) return d;
  const bool same = found == expected || (std::isnan(found) && std::isnan(expected));
  return same ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace heddle::engine
