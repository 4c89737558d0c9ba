// Runs the warps of one block: lanes in lock step, the lowest program counter first where they diverge, barriers of the block.
#pragma once
#include <memory>
#include <vector>

#include "test/emulator/warp.h"

namespace heddle::emulator {

/// One block at a time; the memory of its warps is kept for the next.
class Machine {
 public:
  /// `most_instructions`: bound of one warp in one block, against endless loops.
  Machine(BlockState block, const Program& program, int threads, uint64_t most_instructions);
  /// `special(kind, thread)`: values of special registers.
  template <typename Value>
  void run_block(const Value& special) {
    for (auto& warp : warps_) {
      warp->begin([&](Special kind, int lane) { return special(kind, warp->thread(lane)); });
    }
    run();
  }
  uint64_t executed() const { return executed_; }

 private:
  void run();
  /// Until the warp waits at a barrier or has ended.
  void run_warp(Warp& warp);
  void step(Warp& warp, const Instruction& instruction, uint32_t mask);
  void branch(Warp& warp, const Instruction& instruction, uint32_t mask);
  void leave(Warp& warp, uint32_t mask);
  void barrier(Warp& warp, const Instruction& instruction, uint32_t mask);
  void release_barrier();
  void stop(Warp& warp);

  BlockState block_;
  const Program& program_;
  uint64_t most_instructions_, executed_ = 0;
  std::vector<std::unique_ptr<Warp>> warps_;
};

}  // namespace heddle::emulator
