// Hulls of the lines of a mask: the first and last key of each row, or by the exchanged mask the first and last query of each column.
//
// Read off the pieces of the line's nest; where inner conditions decide which end of a loop is visited, isl's parametric minimum and
// maximum of the piece are read instead. Digit masks combine the hulls of their factors.
#pragma once
#include <optional>
#include <vector>
#include "src/analysis/digits.h"
#include "src/analysis/mask_stages.h"

namespace heddle::analysis {

/// The mask with q and k exchanged; sizes keep their names.
ir::Expr exchanged(const ir::Expr& mask);

/// How lines are named: the expression of a line's position (below `outer_end`), and the last position in it.
struct LineNames {
  ir::Expr outer, last;
  std::optional<int64_t> outer_end;
};

/// Hulls of k of every line q of a source.
std::vector<HullPiece> line_hulls(const MaskSource& source, const LineNames& names, const StageLog& log);
/// The same for a product of digits; names.last is `length` - 1.
std::vector<HullPiece> digit_hulls(const DigitMask& mask, const ir::Expr& outer, const ir::Expr& length, const StageLog& log);

/// Guards that always hold are dropped, pieces whose guards never hold too. `fixed`: values of Sq and Sk, when known.
LineHulls simplified(Proof proof, std::vector<HullPiece> pieces, std::optional<Lengths> fixed);

}  // namespace heddle::analysis
