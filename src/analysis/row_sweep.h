// Exact counts from the rows of a mask as a loop nest: one pass over q = 0 .. sq - 1, threaded, O(sq x strips of a row).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>
#include "src/analysis/counts.h"
#include "src/analysis/tile_sweep.h"
#include "src/ir/loop_nest.h"

namespace heddle::analysis {

struct SweepInput {
  const ir::LoopNest* rows = nullptr;    ///< Of q; pieces pairwise disjoint, keys in [0, sk).
  Lengths lengths;
  std::map<std::string, int64_t> ints;   ///< Every free name of the nest but q.
};

/// All fields of MaskCounts that the request names, except proof and milliseconds. A shape in `scopes` with Scope::Rim counts only
/// tiles that the bounds cut; shapes that are not named count all tiles.
MaskCounts sweep_rows(const SweepInput& input, const CountRequest& request,
                      const std::map<TileShape, TileSweep::Scope>& scopes = {});

/// Counts of the tiles that lie wholly inside the bounds, from a relation on the plane.
TileCounts count_whole_tiles(const TileRelation& relation, Lengths lengths, const std::map<std::string, int64_t>& ints);

}  // namespace heddle::analysis
