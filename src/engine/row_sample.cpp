#include "src/engine/row_sample.h"

#include <algorithm>

namespace heddle::engine {

std::vector<int64_t> sample_rows(int64_t rows, int64_t most) {
  const int64_t count = std::min(rows, std::max<int64_t>(most, 1));
  std::vector<int64_t> sample(count, 0);
  for (int64_t i = 1; i < count; ++i) sample[i] = static_cast<int64_t>(static_cast<__int128>(i) * (rows - 1) / (count - 1));
  return sample;
}

}  // namespace heddle::engine
