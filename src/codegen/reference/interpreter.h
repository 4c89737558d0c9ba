// Executes tile programs in double precision, statement by statement: the judge of lowering and the meaning of the tile IR.
#pragma once
#include "heddle/kernel_abi.h"
#include "src/codegen/reference/attention_result.h"
#include "src/ir/tile_program.h"

namespace heddle::reference {

/// Runs every block of the grid on inputs q, k, v of `args`, of the program's dtype (parameters in the program's order) and returns what the program
/// stores, O not rounded; o and lse of `args` are not touched. Verifies the program first, and checks nests while they run (key_tiles.h).
/// `tiles_per_step`: how many tiles of one class make a step; 0 takes keys_per_step / tile_keys. Results of a right program differ
/// by rounding only.
AttentionResult interpret(const ir::TileProgram& program, const AttentionArgs& args, int64_t tiles_per_step = 0);

}  // namespace heddle::reference
