// Which key tiles a key loop visits for one row block, and in which class: shared by the interpreter and the null target.
#pragma once
#include <cstdint>
#include <vector>

#include "src/codegen/reference/leaf_slots.h"
#include "src/ir/tile_program.h"

namespace heddle::reference {

struct KeyTiles {
  std::vector<int64_t> full, partial;
};

/// Tiles of row block `qb` of the (b, h) that `slots` holds. Nests are checked while they run: a tile outside [0, NK), a full tile
/// outside [0, NF) or a tile visited twice throws InternalError. Tested and listed loops evaluate their predicate at every pair of
/// the block: lists are not looked at, so that they are judged too.
KeyTiles key_tiles(const ir::TileProgram& program, const ir::KeyLoop& loop, const AttentionArgs& args, LeafSlots& slots, int64_t qb);

}  // namespace heddle::reference
