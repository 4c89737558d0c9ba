// The layout of compressed rows from the formulas in a LaunchRecord; needs no compiler.
#pragma once
#include "heddle/acsr.h"
#include "heddle/kernel_abi.h"

namespace heddle::engine {

/// Throws UserError on sizes that are negative or beyond the kernel's positions. `ints` in the order of record.int_params.
AcsrLayout acsr_layout(const LaunchRecord& record, const AcsrSizes& sizes, const std::vector<int64_t>& ints);

}  // namespace heddle::engine
