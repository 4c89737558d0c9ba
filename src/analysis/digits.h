// Masks over the digits of positions: q = qy * W + qx and k = ky * W + kx, e.g. pixels (y, x) of an image W wide.
//
// Where q and k occur only as q / W, q % W, k / W and k % W of one W, and every conjunct uses only the high or only the low digits,
// the mask is a product of two one-dimensional masks, each of which isl does quickly (neighbourhood attention, shifted windows). A
// tile that divides a line, or is made of whole lines, is a product of digit ranges too, so rows and tiles are products of nests.
#pragma once
#include <optional>
#include "src/analysis/mask_stages.h"

namespace heddle::analysis {

struct DigitMask {
  int64_t period = 0;  ///< W
  MaskSource high, low;  ///< Over q and k that mean the digits; both digits of `low` are below W.
  bool couples() const;  ///< Both factors say something.
};

/// The factors of a mask, or nullopt when it is no such product. `bounds`: of q and k themselves.
std::optional<DigitMask> split_digits(const ir::Expr& mask, const PlaneBounds& bounds);

/// Rows of the mask below `length` keys, in pieces of two loops; of one where one of the digits has one value only.
ir::LoopNest digit_rows(const DigitMask& mask, const ir::Expr& length, const StageLog& log);

/// True when tiles of this shape are products of digit ranges.
bool tiles_follow_digits(const DigitMask& mask, TileShape shape);

/// Nests of flat tile numbers on the plane, in pieces of one or two loops. Needs tiles_follow_digits. `mask` must outlive `stages`.
TileNests digit_tiles(const DigitMask& mask, TileShape shape, bool transposed, TileStages& stages, const StageLog& log);

MaskFacts::Lattice digit_lattice(const DigitMask& mask, const StageLog& log);

}  // namespace heddle::analysis
