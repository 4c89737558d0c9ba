// A kernel's PTX decoded for execution: every operand is a slot of 32 lanes, every instruction a function on a warp.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "test/emulator/ptx_text.h"

namespace heddle::emulator {

class Warp;
struct Instruction;

/// Executes an instruction for the lanes of `mask`, which is not empty.
using Execute = void (*)(Warp& warp, const Instruction& instruction, uint32_t mask);

/// What the machine does with an instruction beside executing it.
enum class Flow : uint8_t {
  Plain,
  Branch,
  Exit,
  BlockBarrier,
  WarpWide,  ///< Needs every live lane: `.sync.aligned`.
};

/// Offset of a lane array in the register file, in units of 4 bytes: 32 of 4 bytes, or 32 of 8; or the number of a predicate.
using Slot = uint32_t;

struct Instruction {
  static constexpr int kMostOperands = 16;

  Execute execute = nullptr;
  Flow flow = Flow::Plain;
  bool guarded = false, guard_negated = false;
  bool flag = false;  ///< Meaning of the instruction: transposed, saturating, ...
  uint8_t bytes = 0;  ///< Of one memory element.
  uint8_t count = 0;  ///< Elements of a vector, or matrices.
  uint16_t wide = 0;  ///< Bit i: the register of element i has 8 bytes, whatever `bytes` says.
  Slot guard = 0;
  uint32_t target = 0;    ///< Of a branch.
  int64_t immediate = 0;  ///< Address offset, or number.
  std::array<Slot, kMostOperands> slots{};
  int line = 0;
};

/// A slot whose lanes have one value from the start.
struct Constant {
  Slot slot;
  int bytes;
  uint64_t value;
};

/// Registers that the launch fills in.
enum class Special : uint8_t {
  ThreadX,
  ThreadY,
  ThreadZ,
  BlockX,
  BlockY,
  BlockZ,
  ThreadsX,
  ThreadsY,
  ThreadsZ,
  GridX,
  GridY,
  GridZ,
  Lane
};

struct SpecialSlot {
  Special special;
  Slot slot;
};

/// One kernel, ready to run.
struct Program {
  std::string name;
  std::vector<Instruction> code;
  std::vector<std::string> opcodes;  ///< Text of each instruction, for reports.
  std::vector<Parameter> parameters;
  std::vector<Constant> constants;
  std::vector<Slot> true_predicates;  ///< Predicates that hold from the start; all others begin false.
  std::vector<SpecialSlot> specials;
  Slot slots = 0;       ///< Size of the register file, in units of 4 bytes.
  Slot predicates = 0;  ///< Number of predicate registers.
  int static_shared_bytes = 0;
};

/// Decodes the kernel `name` of a PTX text (empty: the only one). Throws PtxError naming the line of what is not understood.
Program decode_ptx(std::string_view text, const std::string& name = {});

}  // namespace heddle::emulator
