#include "src/codegen/reference/key_tiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "heddle/error.h"
#include "src/ir/evaluate.h"

namespace heddle::reference {
namespace {

KeyTiles nest_tiles(const ir::KeyLoop& loop, const LeafSlots& slots, int64_t qb, int64_t nk, int64_t nf) {
  std::map<std::string, int64_t> names = slots.block_names();
  names["qb"] = qb, names["NK"] = nk, names["NF"] = nf;
  KeyTiles tiles;
  std::set<int64_t> seen;
  const auto collect = [&](std::vector<int64_t>& into, int64_t end, const char* kind) {
    return [&into, &seen, end, kind, qb](int64_t kb) {
      if (kb < 0 || kb >= end || !seen.insert(kb).second) {
        throw InternalError("key tiles", fmt::format("row block {} visits {} tile {} {}", qb, kind, kb,
                                                     kb < 0 || kb >= end ? "outside the keys" : "twice"));
      }
      into.push_back(kb);
    };
  };
  ir::visit(loop.full, names, collect(tiles.full, nf, "full"));
  ir::visit(loop.partial, names, collect(tiles.partial, nk, "partial"));
  return tiles;
}

struct Seen {
  bool any = false, all = true;
};

Seen test_tile(const ir::CompiledExpr& predicate, LeafSlots& slots, int64_t first_row, int64_t end_row, int64_t first_key,
               int64_t end_key) {
  Seen seen;
  for (int64_t q = first_row; q < end_row; ++q) {
    slots.set(LeafSlots::kQuery, q);
    for (int64_t k = first_key; k < end_key; ++k) {
      slots.set(LeafSlots::kKey, k);
      const bool allowed = predicate.run_int(slots.ints()) != 0;
      seen.any = seen.any || allowed;
      seen.all = seen.all && allowed;
    }
  }
  return seen;
}

}  // namespace

KeyTiles key_tiles(const ir::TileProgram& program, const ir::KeyLoop& loop, const AttentionArgs& args, LeafSlots& slots, int64_t qb) {
  const int64_t width = program.tile_keys, nf = args.sk / width, nk = (args.sk + width - 1) / width;
  if (loop.source == ir::LoopSource::Nest) return nest_tiles(loop, slots, qb, nk, nf);
  const ir::CompiledExpr predicate = slots.compile(loop.predicate);
  const int64_t first_row = qb * program.tile_rows, end_row = std::min(first_row + program.tile_rows, args.sq);
  KeyTiles tiles;
  for (int64_t kb = 0; kb < nk; ++kb) {
    const Seen seen = test_tile(predicate, slots, first_row, end_row, kb * width, std::min(kb * width + width, args.sk));
    if (seen.any) (seen.all && kb < nf ? tiles.full : tiles.partial).push_back(kb);
  }
  return tiles;
}

}  // namespace heddle::reference
