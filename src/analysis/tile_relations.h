// Tiles of a mask on the plane: which have an allowed pair, and which have nothing else.
#pragma once
#include <vector>
#include "src/analysis/formula_sets.h"

namespace heddle::analysis {

/// { [row block, column block] }, disjoint.
struct TileSets {
  isl::set partial, full;
};

/// Tiles of shape.rows x shape.cols pairs (first x second dimension of the plane). `count` and `whole`: keys of the parameters that
/// bound column blocks (NK, NF), or empty for the unbounded plane. Needs `whole` <= `count` <= `whole` + 1 in the plane's context.
TileSets tile_sets(const Plane& plane, TileShape shape, const std::string& count, const std::string& whole);

/// isl text that ties tile counts to a length where the formula names it: count = ceil(length / tile), whole = floor(length / tile).
std::string tile_count_context(const Parameters& parameters, const std::string& length, int64_t tile, const std::string& count,
                               const std::string& whole);

}  // namespace heddle::analysis
