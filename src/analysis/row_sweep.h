// Exact counts from the rows of a mask as strips: one pass over q = 0 .. sq - 1, threaded, O(sq x strips of a row).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>
#include "src/analysis/counts.h"
#include "src/analysis/row_source.h"
#include "src/analysis/tile_sweep.h"

namespace heddle::analysis {

/// The rows of facts with closed form. They must outlive it; its rows are found now.
MakeSource nest_source(const MaskFacts& facts, const std::map<std::string, int64_t>& ints);
/// The rows of any mask, where ranges are known. Both must outlive it.
MakeSource ranged_source(const MaskFacts& facts, const MaskInputs& inputs, const KnownRanges& known);

struct SweepInput {
  MakeSource source;     ///< Of the rows of q: strips pairwise disjoint, keys in [0, sk).
  Lengths lengths;
  WorkMeter& meter;
};

/// All fields of MaskCounts that the request names, except proof and milliseconds. A shape in `scopes` with Scope::Rim counts only
/// tiles that the bounds cut; shapes that are not named count all tiles. Throws OverWork.
MaskCounts sweep_rows(const SweepInput& input, const CountRequest& request,
                      const std::map<TileShape, TileSweep::Scope>& scopes = {});

/// About the steps that count_whole_tiles() would take, and those that sweep_rows() would take for the tiles of a shape beside what it
/// takes anyway; from a few blocks. 0 where there are few, WorkMeter::kNoLimit where those take long.
int64_t steps_of_whole_tiles(const TileRelation& relation, Lengths lengths, const std::map<std::string, int64_t>& ints);
int64_t steps_of_rows(const SweepInput& input, TileShape shape);

/// Counts of the tiles that lie wholly inside the bounds, from a relation on the plane, threaded. Throws OverWork.
TileCounts count_whole_tiles(const TileRelation& relation, Lengths lengths, const std::map<std::string, int64_t>& ints, int threads, WorkMeter& meter);

}  // namespace heddle::analysis
