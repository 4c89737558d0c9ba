// The emulator of CUDA kernels: executes the PTX that NVRTC wrote, block by block, checks what each lane does with memory, and
// counts what it costs. It needs no GPU.
//
// Executed: all lanes of a warp in lock step, warps of a block one after another between barriers, blocks in order. Trusted:
// ptxas, which turns the PTX into machine code. Not emulated: what a device rounds inside mma, timing, caches, and orders of
// atomics.
#pragma once
#include "test/emulator/global_memory.h"
#include "test/emulator/ptx_program.h"
#include "test/emulator/warp.h"

namespace heddle::emulator {

/// Values of kernel parameters in order.
class Arguments {
 public:
  /// A number, an address of GlobalMemory, or a struct.
  template <typename T>
  Arguments& add(const T& value) {
    return add_bytes(&value, sizeof value);
  }
  /// A struct as its bytes.
  Arguments& add_bytes(const void* data, size_t bytes) {
    const auto* first = static_cast<const uint8_t*>(data);
    values_.emplace_back(first, first + bytes);
    return *this;
  }
  const std::vector<std::vector<uint8_t>>& values() const { return values_; }

 private:
  std::vector<std::vector<uint8_t>> values_;
};

struct Launch {
  std::array<int, 3> grid{1, 1, 1};
  std::array<int, 3> block{32, 1, 1};  ///< Threads; their product is a multiple of 32, at most 1024.
  int dynamic_shared_bytes = 0;
  Arguments arguments;
  uint64_t most_instructions = 20'000'000;  ///< Of one warp.
};

/// What a launch did.
struct Outcome {
  Findings findings;
  std::vector<InstructionCount> counts;  ///< Per instruction of the program.
  uint64_t executed = 0;                 ///< Instructions, once a warp.

  /// Sums over the instructions whose opcode begins with `prefix` and whose line is in [first_line, last_line].
  InstructionCount sum(const Program& program, std::string_view prefix = {}, int first_line = 0, int last_line = 1 << 30) const;
};

/// Runs all blocks. Throws std::invalid_argument when arguments or shape do not fit the kernel.
Outcome run(const Program& program, const Launch& launch, GlobalMemory& memory);

}  // namespace heddle::emulator
