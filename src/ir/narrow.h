// Ranges of variables where conditions hold: interval constraint propagation through the comparisons of a guard.
#pragma once
#include <map>
#include <string>
#include "src/ir/rewrite.h"

namespace heddle::ir {

/// Ranges by name; names that are missing are Interval::full().
using Box = std::map<std::string, Interval>;

/// Narrows `box` to hold every point of it at which `condition` (Bool) has the value `holds`; more points may stay. Returns false when
/// no point is left. Example: `k - 5 >= 0` narrows k in [0, 9] to [5, 9].
bool narrow(const Expr& condition, bool holds, Box& box);

}  // namespace heddle::ir
