// Estimates of masks that are too irregular and too large to count: the exact predicate at points and in tiles that are chosen once for all.
//
// Points are stratified (one at a hashed place of each cell of an even grid), evaluated in lanes, threaded; the same mask and lengths give
// the same estimate on every machine. Errors are twice the standard error of plain random sampling, which stratified sampling stays below;
// where no point differs from the others, 3 / points ("rule of three").
#pragma once
#include <cstdint>
#include <vector>
#include "src/analysis/cells.h"
#include "src/analysis/facts.h"
#include "src/analysis/pair_program.h"

namespace heddle::analysis {

/// A share in [0, 1] and half the width of its interval of 95% confidence.
struct Share {
  double value = 0, error = 0;
};

struct TileSample {
  int64_t tiles = 0;           ///< Looked at, of all in `of`.
  int64_t of = 0;
  int64_t pairs = 0;           ///< Looked at in each, at most; fewer than rows x cols where tiles are larger than 256 x 256.
  Share full, partial, empty;  ///< Of tiles.
};

/// What part of sq x sk pairs (both at least 1) is allowed, from about `points` of them.
struct PairSample {
  int64_t points = 0;
  Share allowed;
};
PairSample sample_pairs(const ir::Expr& mask, Lengths lengths, int64_t points, const MaskInputs& inputs, int threads);

TileSample sample_tiles(const ir::Expr& mask, Lengths lengths, TileShape shape, int64_t tiles, const MaskInputs& inputs, int threads);

/// Cells whose numbers are estimated from at most `points` pairs each; exact in cells of no more pairs.
CellGrid sample_cells(const ir::Expr& mask, Lengths lengths, TileShape cell, int64_t points, const MaskInputs& inputs, int threads);

}  // namespace heddle::analysis
