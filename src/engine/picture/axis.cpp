#include "src/engine/picture/axis.h"

#include <algorithm>

namespace heddle::engine {

std::vector<int64_t> ticks(int64_t length, int64_t most) {
  int64_t step = 1;
  while (length > step * most) step *= 2;
  std::vector<int64_t> positions = {0};
  while (positions.back() + step < length) positions.push_back(positions.back() + step);
  if (length > 0 && (length - positions.back()) * 2 >= step) positions.push_back(length);
  return positions;
}

CellLimits cell_limits(int64_t sq, int64_t sk, int64_t most) {
  const double longer = static_cast<double>(std::max({sq, sk, int64_t{1}}));
  const auto share = [&](int64_t length) {
    return std::clamp(static_cast<int64_t>(static_cast<double>(most * length) / longer), std::max<int64_t>(most / 8, 1), most);
  };
  return {share(sq), share(sk)};
}

}  // namespace heddle::engine
