// Conditions on a quotient of a loop variable as bounds of the loop: 128 * (k / 128) + 1023 >= q is k >= 128 * ceil((q - 1023) / 128).
#pragma once
#include "src/ir/loop_nest.h"

namespace heddle::analysis {

/// Takes inner conditions that compare one quotient (a * v + r) / d of the last loop's variable v with an expression without v, a and d
/// positive, into that loop's bounds. The piece visits the same values.
ir::NestPiece with_quotient_bounds(ir::NestPiece piece);

}  // namespace heddle::analysis
