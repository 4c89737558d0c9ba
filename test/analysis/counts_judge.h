// Counts of a mask by brute force, from the definitions of the case files (test/cases/README.md).
#pragma once
#include <string>
#include <vector>
#include "src/analysis/counts.h"
#include "test/analysis/facts_check.h"

namespace heddle::analysis::test {

/// Every count.
MaskCounts judge(const DenseMask& mask, const std::vector<TileShape>& shapes);

/// All counts, to be compared and read.
std::string text(const MaskCounts& counts);

}  // namespace heddle::analysis::test
