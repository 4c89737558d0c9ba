// Which rows are looked at where all of them would take too long.
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::engine {

/// All rows of [0, rows) when they are at most `most` (>= 1), else `most` evenly spaced ones, the first and the last among
/// them: row i is floor(i * (rows - 1) / (most - 1)). The same on every machine.
std::vector<int64_t> sample_rows(int64_t rows, int64_t most);

}  // namespace heddle::engine
