// What a picture of a mask shows: the allowed pairs of each cell of a grid, and the classes of the mask's tiles.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::engine {

/// Tiles by class; tiles at the edge are clipped to the mask.
struct TileTally {
  int64_t full = 0, partial = 0, empty = 0;
};

struct PictureCells {
  std::string mask;                     ///< The formula.
  int64_t sq = 0, sk = 0;
  int64_t cell_rows = 1, cell_cols = 1; ///< Pairs of a cell, down and across; cells at the last row and column are clipped.
  int64_t rows = 0, cols = 0;           ///< Cells down and across; 0 where a length is 0.
  std::vector<int64_t> allowed;         ///< Row-major: allowed pairs of each cell.
  int64_t tile_rows = 64, tile_cols = 64;
  TileTally tiles;
  int64_t nnz = 0;                      ///< Allowed pairs of the mask.
  int64_t sampled = 0;                  ///< Pairs of a cell from which `allowed`, `tiles` and `nnz` are estimated; 0: they are exact.
  std::string proof;                    ///< How the facts behind the counts were established.
  double milliseconds = 0;              ///< Of analysis and counting.
};

/// Each cell is one pair.
inline bool shows_pairs(const PictureCells& cells) { return cells.cell_rows == 1 && cells.cell_cols == 1; }

}  // namespace heddle::engine
