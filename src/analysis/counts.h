// Exact counts of a mask at given lengths: non-zeros, runs, empty rows and columns, tile classes, checksum.
//
// Computed from the rows and tile nests of the facts by an interval-and-stride sweep, threaded, O(S x pieces); from a bit-parallel
// enumeration where the facts are Enumerated. Definitions are those of the case files (test/cases/README.md).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>
#include "src/analysis/facts.h"
#include "src/ir/evaluate.h"

namespace heddle::analysis {

struct TileCounts {
  int64_t empty = 0, full = 0, partial = 0;
  bool operator==(const TileCounts&) const = default;
};

struct SampleRow {
  int64_t row = 0, first = -1, last = -1, count = 0;
  bool operator==(const SampleRow&) const = default;
};

struct CountRequest {
  std::vector<TileShape> tiles = {{64, 64}};  ///< Edge tiles are clipped: full means every pair inside the mask is allowed.
  bool pieces = false;     ///< row_runs_*, affine_rows (greedy pieces): O(nnz) in the worst case.
  bool columns = false;    ///< empty_cols.
  bool checksum = false;   ///< fnv1a64 of the bit matrix: O(Sq * Sk / 8).
  int threads = 2;
};

struct MaskCounts {
  int64_t nnz = 0, empty_rows = 0, row_nnz_max = 0, contig_runs_max = 0, contig_runs_total = 0;
  std::optional<int64_t> empty_cols, row_runs_max, row_runs_total, affine_rows;
  std::map<TileShape, TileCounts> tiles;
  std::vector<SampleRow> sample_rows;  ///< Rows 0, sq/3, 2*sq/3, sq-1 without repeats; none when sq is 0.
  std::optional<uint64_t> fnv1a64;
  Proof proof = Proof::Symbolic;       ///< What the counts were computed from.
  double milliseconds = 0;
};

/// Counts at lengths sq x sk (both may be 0). `ints`: values of b, h, sizes other than Sq and Sk, and dynamic parameters that
/// the mask mentions; `tables`: those that it reads. Throws UserError when one is missing, and for a table that certainly does not fit
/// (ir::check_tables).
MaskCounts count(const MaskFacts& facts, Lengths lengths, const CountRequest& request,
                 const std::map<std::string, int64_t>& ints = {}, const ir::Tables& tables = {});

}  // namespace heddle::analysis
