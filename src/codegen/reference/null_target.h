// A target that executes nothing: it accepts any tile program and counts what a launch would do.
#pragma once
#include <cstdint>
#include <string>

#include "heddle/kernel_abi.h"
#include "src/ir/tile_program.h"

namespace heddle::reference {

struct LaunchCounts {
  int64_t launches = 0;       ///< Kernels started: 0 when the grid is empty.
  int64_t blocks = 0;
  int64_t full_tiles = 0, partial_tiles = 0;  ///< Over all blocks and key loops.
  int64_t mma_flops = 0;      ///< Two a multiply-add; existing rows and keys only.
  int64_t bytes_read = 0;     ///< Staged rows, counted every time they are staged.
  int64_t bytes_written = 0;  ///< Stored results.
  bool operator==(const LaunchCounts&) const = default;
};

/// Counts a launch at the lengths, heads and parameters of `args`; its tensors may be null. Verifies the program first.
LaunchCounts count_launch(const ir::TileProgram& program, const AttentionArgs& args);

std::string print(const LaunchCounts& counts);

}  // namespace heddle::reference
