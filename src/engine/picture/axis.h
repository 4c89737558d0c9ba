// Tick marks of an axis that counts positions from 0.
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::engine {

/// Positions 0, step, 2 * step, ... below `length`, at most `most` (>= 2) + 1 of them, step a power of two; and `length` itself where
/// it is half a step or more beyond the last. Only 0 when length is 0.
std::vector<int64_t> ticks(int64_t length, int64_t most);

/// Most cells down and across for a mask of sq x sk where the longer side may have `most`: in proportion, but at least an eighth.
struct CellLimits {
  int64_t rows, cols;
};
CellLimits cell_limits(int64_t sq, int64_t sk, int64_t most);

}  // namespace heddle::engine
