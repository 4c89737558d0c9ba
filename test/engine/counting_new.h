// Counts the allocations of this test program, those inside libheddle.so included.
#pragma once
#include <cstdint>

namespace heddle {

int64_t allocations_so_far();

}  // namespace heddle
