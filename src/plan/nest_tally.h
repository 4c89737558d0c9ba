// Counts what loop nests visit over a whole grid, run by run: the exact numbers that plans are priced with.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "src/ir/loop_nest.h"

namespace heddle::plan {

/// How a sweep cuts a run of adjacent tiles into steps.
struct StepShape {
  int64_t tile_keys = 16;
  int64_t keys_per_step = 96;
  int64_t register_keys = 1;  ///< Keys of one register tile: a step's remainder modulo this is its tail.
};

struct NestTally {
  int64_t tiles = 0;
  int64_t steps = 0;
  int64_t tail_keys = 0;  ///< Keys in the tails of all steps.
  NestTally& operator+=(const NestTally& other);
  bool operator==(const NestTally&) const = default;
};

/// Adds up one visit of the nest; `names` gives every free name. Adjacent values of an innermost loop form runs. Closed form where an
/// innermost loop has no inner condition, so the cost does not grow with its length.
NestTally tally(const ir::LoopNest& nest, const std::map<std::string, int64_t>& names, const StepShape& shape);

}  // namespace heddle::plan
