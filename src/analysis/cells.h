// A grid of equal cells laid over a mask, and how many allowed pairs each cell holds: what a picture of the mask shows.
//
// Exact. From the rows of the facts in one pass, threaded, O(rows x strips of a row); from a bit-parallel enumeration where the facts
// are Enumerated.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>
#include "src/analysis/counts.h"
#include "src/ir/evaluate.h"

namespace heddle::analysis {

/// Cells of cell.rows x cell.cols pairs from (0, 0) on; those at the last row and column are clipped.
struct CellGrid {
  TileShape cell;
  int64_t rows = 0, cols = 0;     ///< Cells down and across.
  std::vector<int64_t> allowed;   ///< Row-major: allowed pairs of each cell.
};

/// Both lengths may be 0. `ints`: value of every name the mask mentions but q, k, Sq and Sk; `tables`: those that it reads. Throws
/// OverWork beyond the limit.
CellGrid count_cells(const MaskFacts& facts, Lengths lengths, TileShape cell, int threads, const std::map<std::string, int64_t>& ints = {},
                     const ir::Tables& tables = {}, const CountLimits& limits = {});

}  // namespace heddle::analysis
