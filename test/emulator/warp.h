// One warp of an emulated block: its registers, predicates and program counters.
#pragma once
#include <cstdint>
#include <vector>

#include "test/emulator/access_cost.h"
#include "test/emulator/global_memory.h"
#include "test/emulator/ptx_program.h"
#include "test/emulator/shared_memory.h"

namespace heddle::emulator {

constexpr uint32_t kAllLanes = 0xffffffffu;

/// How often an instruction ran, and what its memory accesses cost.
struct InstructionCount {
  uint64_t executed = 0;  ///< Once a warp.
  Cost banks;             ///< Passes of shared memory.
  Cost sectors;           ///< Sectors of global memory.
};

/// What the warps of a block share.
struct BlockState {
  SharedMemory& shared;
  GlobalMemory& global;
  Findings& findings;
  const std::vector<uint8_t>& parameters;
  std::vector<InstructionCount>& counts;
};

class Warp {
 public:
  /// Generic addresses of shared memory begin here (cvta.shared).
  static constexpr uint64_t kSharedWindow = uint64_t{1} << 62;

  Warp(BlockState& block, const Program& program, int index);
  /// Fresh registers at the first instruction. `special(kind, lane)` gives the values of special registers.
  template <typename Value>
  void begin(const Value& special) {
    reset();
    for (const SpecialSlot& one : program.specials) {
      for (int lane = 0; lane < kWarp; ++lane) lanes(one.slot)[lane] = special(one.special, lane);
    }
  }

  uint32_t* lanes(Slot slot) { return &registers_[slot]; }
  uint64_t* wide_lanes(Slot slot) { return reinterpret_cast<uint64_t*>(&registers_[slot]); }
  uint32_t& predicate(Slot slot) { return predicates_[slot]; }
  int thread(int lane) const { return index * kWarp + lane; }
  InstructionCount& counts(const Instruction& instruction) { return block.counts[&instruction - program.code.data()]; }
  void report(FindingKind kind, int lane, std::string text) { block.findings.add(kind, thread(lane), std::move(text)); }

  BlockState& block;
  const Program& program;
  const int index;

  uint32_t live = kAllLanes;    ///< Lanes that have not left the kernel.
  uint32_t active = kAllLanes;  ///< Lanes at `pc`.
  uint32_t pc = 0;
  bool diverged = false;
  uint32_t lane_pc[kWarp] = {};  ///< Valid while diverged.
  bool at_barrier = false;
  uint64_t executed = 0;

 private:
  void reset();

  std::vector<uint32_t> storage_;  ///< Holds registers_ with room to align.
  uint32_t* registers_ = nullptr;
  std::vector<uint32_t> predicates_;
};

}  // namespace heddle::emulator
