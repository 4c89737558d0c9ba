#include "test/emulator/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::emulator {

namespace {

uint32_t lanes_at(const Warp& warp, uint32_t pc) {
  uint32_t lanes = 0;
  for (int lane = 0; lane < kWarp; ++lane) lanes |= static_cast<uint32_t>(warp.lane_pc[lane] == pc) << lane;
  return lanes & warp.live;
}

/// Lanes at the lowest program counter go next; together again, the warp has one counter.
void choose_lanes(Warp& warp) {
  uint32_t lowest = ~0u;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (warp.live >> lane & 1) lowest = std::min(lowest, warp.lane_pc[lane]);
  }
  warp.active = lanes_at(warp, lowest);
  warp.pc = lowest;
  if (warp.active == warp.live) warp.diverged = false;
}

void set_counters(Warp& warp, uint32_t mask, uint32_t pc) {
  for (int lane = 0; lane < kWarp; ++lane) {
    if (mask >> lane & 1) warp.lane_pc[lane] = pc;
  }
}

}  // namespace

Machine::Machine(BlockState block, const Program& program, int threads, uint64_t most_instructions)
    : block_(block), program_(program), most_instructions_(most_instructions) {
  for (int index = 0; index < threads / kWarp; ++index) warps_.push_back(std::make_unique<Warp>(block_, program_, index));
}

void Machine::run() {
  const auto unfinished = [](const auto& warp) { return warp->live != 0; };
  while (std::any_of(warps_.begin(), warps_.end(), unfinished)) {
    for (auto& warp : warps_) {
      if (warp->live != 0 && !warp->at_barrier) run_warp(*warp);
    }
    release_barrier();
  }
  for (auto& warp : warps_) executed_ += warp->executed;
}

void Machine::release_barrier() {
  const auto waiting = std::count_if(warps_.begin(), warps_.end(), [](const auto& warp) { return warp->at_barrier; });
  if (waiting == 0) return;
  for (auto& warp : warps_) {
    if (!warp->at_barrier && waiting < static_cast<long>(warps_.size())) {
      block_.findings.add(FindingKind::DivergentBarrier, warp->thread(0),
                          fmt::format("ended while {} warps wait at a barrier", waiting));
    }
    warp->at_barrier = false;
  }
  block_.shared.block_barrier();
}

void Machine::run_warp(Warp& warp) {
  while (warp.live != 0 && !warp.at_barrier) {
    if (warp.diverged) choose_lanes(warp);
    if (warp.pc >= program_.code.size()) return leave(warp, warp.active);
    if (++warp.executed > most_instructions_) {
      block_.findings.add(FindingKind::Endless, warp.thread(0), fmt::format("more than {} instructions", most_instructions_));
      return stop(warp);
    }
    const Instruction& instruction = program_.code[warp.pc];
    uint32_t mask = warp.active;
    if (instruction.guarded)
      mask &= instruction.guard_negated ? ~warp.predicate(instruction.guard) : warp.predicate(instruction.guard);
    block_.findings.line = instruction.line;
    step(warp, instruction, mask);
  }
}

void Machine::step(Warp& warp, const Instruction& instruction, uint32_t mask) {
  const uint32_t next = warp.pc + 1;
  if (warp.diverged) set_counters(warp, warp.active, next);
  warp.pc = next;
  if (mask == 0) return;
  ++warp.counts(instruction).executed;
  switch (instruction.flow) {
    case Flow::Branch:
      return branch(warp, instruction, mask);
    case Flow::Exit:
      return leave(warp, mask);
    case Flow::BlockBarrier:
      return barrier(warp, instruction, mask);
    case Flow::WarpWide:
      if (mask != kAllLanes)
        warp.report(FindingKind::DivergentWarpOperation, std::countr_zero(mask),
                    fmt::format("only lanes 0x{:08x} are here", mask));
      break;
    case Flow::Plain:
      break;
  }
  instruction.execute(warp, instruction, mask);
}

void Machine::branch(Warp& warp, const Instruction& instruction, uint32_t mask) {
  if (mask == warp.active && !warp.diverged) {
    warp.pc = instruction.target;
    return;
  }
  if (!warp.diverged) set_counters(warp, warp.active, warp.pc);
  warp.diverged = true;
  set_counters(warp, mask, instruction.target);
}

void Machine::leave(Warp& warp, uint32_t mask) {
  warp.live &= ~mask;
  if (warp.live == 0 || warp.diverged || mask == warp.active) return;
  warp.active = warp.live;
}

void Machine::barrier(Warp& warp, const Instruction& instruction, uint32_t mask) {
  if (mask != kAllLanes) {
    warp.report(FindingKind::DivergentBarrier, std::countr_zero(mask),
                fmt::format("only lanes 0x{:08x} of the warp are here", mask));
    // What follows would be noise: the block's memory is in no defined state.
    return stop(warp);
  }
  warp.at_barrier = true;
}

void Machine::stop(Warp& warp) {
  warp.live = 0;
  for (auto& other : warps_) {
    other->live = 0;
    other->at_barrier = false;
  }
}

}  // namespace heddle::emulator
