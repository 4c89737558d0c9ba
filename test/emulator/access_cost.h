// What a memory instruction of a warp costs: passes over the 32 shared memory banks, and 32-byte sectors of global memory.
#pragma once
#include <cstdint>

namespace heddle::emulator {

constexpr int kWarp = 32;

/// Actual and least cost of accesses; equal when nothing is wasted.
struct Cost {
  int64_t actual = 0, ideal = 0;
  int64_t excess() const { return actual - ideal; }
  Cost& operator+=(const Cost& other) {
    actual += other.actual;
    ideal += other.ideal;
    return *this;
  }
};

/// Passes of one shared access of `bytes` (2 to 16) a lane at `addresses` under `mask`. 32 banks of 4 bytes; lanes go in groups
/// that move at most 128 bytes (all, halves, quarters); a pass serves one word a bank, to any number of lanes. Ideal: one pass
/// a group with a lane.
Cost bank_passes(const uint64_t* addresses, uint32_t mask, int bytes);

/// Passes of one 8x8 matrix of ldmatrix: 8 rows of 16 bytes, one pass when they lie in different groups of four banks.
Cost matrix_passes(const uint64_t* rows);

/// Distinct sectors of one global access against the fewest that could hold the distinct bytes moved.
Cost sectors(const uint64_t* addresses, uint32_t mask, int bytes);

}  // namespace heddle::emulator
