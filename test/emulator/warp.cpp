#include "test/emulator/warp.h"

#include <algorithm>

namespace heddle::emulator {

namespace {

constexpr size_t kAlignment = 64;
constexpr uint32_t kUnset = 0xffffffffu;  // NaN in all float types

}  // namespace

Warp::Warp(BlockState& of, const Program& runs, int number)
    : block(of), program(runs), index(number), predicates_(runs.predicates) {
  storage_.resize(program.slots + kAlignment / sizeof(uint32_t));
  const auto address = reinterpret_cast<uintptr_t>(storage_.data());
  registers_ = reinterpret_cast<uint32_t*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

void Warp::reset() {
  std::fill_n(registers_, program.slots, kUnset);
  std::fill(predicates_.begin(), predicates_.end(), 0u);
  for (const Slot slot : program.true_predicates) predicates_[slot] = kAllLanes;
  for (const Constant& constant : program.constants) {
    if (constant.bytes == 8) {
      std::fill_n(wide_lanes(constant.slot), kWarp, constant.value);
    } else {
      std::fill_n(lanes(constant.slot), kWarp, static_cast<uint32_t>(constant.value));
    }
  }
  live = active = kAllLanes;
  pc = 0;
  diverged = at_barrier = false;
  executed = 0;
}

}  // namespace heddle::emulator
