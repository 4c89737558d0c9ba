// Nests read under the assumption that sizes are at least 1, made right for lengths of 0 too.
//
// isl drops `k >= 0` where a size of at least 1 implies it: the tiles of `k == Sk - 1` start at (Sk - 1) / 16, which is -1 without keys.
#pragma once
#include "src/ir/loop_nest.h"

namespace heddle::analysis {

/// Bounds loops of pieces that mention a size from below by 0, unless a bound of theirs is never negative. Loop variables count keys,
/// queries, tiles or digits of them, so that no value of positive sizes is lost.
ir::LoopNest for_empty_lengths(ir::LoopNest nest);

}  // namespace heddle::analysis
