// Pieces of a nest rewritten so that as many of their inner loops as possible are closed: a row of them is one strip, not a walk.
//
// Bounds of the inner of two loops that only bound the value (the end of an axis in the last line of an image) are taken out of the
// loop, conditions on a quotient of the variable (`128 * (k / 128) + 1023 >= q`) become bounds, and conditions that repeat and do not depend on the row (`k % 128 >= 120`) become a loop over their runs in a period.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>
#include "src/ir/loop_nest.h"

namespace heddle::analysis {

struct ClosedPiece {
  ir::NestPiece piece;
  std::vector<ir::Expr> lower, upper;  ///< Inclusive bounds of the value, beside those of the loops.
};

/// Pieces that visit the same values together, in another order. `row` names the row variable; `ints`: every other free name.
std::vector<ClosedPiece> close_loops(const ir::NestPiece& piece, const std::string& row, const std::map<std::string, int64_t>& ints);

/// How many outer loops of a piece must be run step by step for the rest to be closed: loops that do not depend on each other, no
/// inner conditions on them, and a value linear in them.
size_t expanded_loops(const ir::NestPiece& piece);

/// Calls visit(begin, end) for the maximal runs of true in a pattern that repeats, from its first false on: an end may pass the period,
/// none crosses that false. A pattern without a false is one run of a period.
template <typename Visit>
void each_cyclic_run(const std::vector<bool>& pattern, const Visit& visit) {
  const auto period = static_cast<int64_t>(pattern.size());
  const int64_t turn = std::find(pattern.begin(), pattern.end(), false) - pattern.begin();
  if (turn == period) return visit(int64_t{0}, period);
  for (int64_t begin = turn, end; begin < turn + period; begin = end + 1) {
    end = begin;
    while (end < turn + period && pattern[end % period]) ++end;
    if (end > begin) visit(begin, end);
  }
}

/// After how many iterations of the last loop the inner conditions repeat; 0 when they do not, or too late.
int64_t last_loop_period(const ir::NestPiece& piece);

}  // namespace heddle::analysis
