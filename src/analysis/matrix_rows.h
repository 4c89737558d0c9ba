// Affine pieces of the rows of a bit matrix, their counts, and tile classes.
#pragma once
#include <vector>
#include "src/analysis/matrix_bits.h"
#include "src/analysis/row_totals.h"

namespace heddle::analysis {

/// first, first + stride, ... (count of them); stride is 1 where count is 1.
struct Piece {
  int64_t first = 0, stride = 1, count = 0;
  int64_t last() const { return first + (count - 1) * stride; }
};

struct MatrixRows {
  RowTotals totals;
  int64_t lattice = 0;                      ///< Greatest common divisor of the distances of keys of one row; 0: no row has two keys.
  bool complete = true;                     ///< Pieces were kept.
  std::vector<std::vector<Piece>> pieces;   ///< Of each row, ascending; empty unless complete.
};

/// Greedy pieces of one row, appended from left to right.
void row_pieces(const uint64_t* row, int64_t words, std::vector<Piece>& pieces);

/// Pieces are kept unless a row has more than `most` of them.
MatrixRows matrix_rows(const BitMatrix& matrix, int64_t most, int threads);

/// Edge tiles are clipped: full means every pair inside the matrix.
TileCounts matrix_tiles(const BitMatrix& matrix, TileShape shape, int threads);

}  // namespace heddle::analysis
