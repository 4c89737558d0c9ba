// Sums and maxima over rows that every way of counting shares.
#pragma once
#include <algorithm>
#include <cstdint>
#include "src/analysis/counts.h"

namespace heddle::analysis {

struct RowTotals {
  int64_t nnz = 0, empty_rows = 0, row_nnz_max = 0, runs_max = 0, runs_total = 0, pieces_max = 0, pieces_total = 0, affine_rows = 0;

  /// One row with `keys` allowed keys in `runs` runs of adjacent columns.
  void add(int64_t keys, int64_t runs) {
    nnz += keys;
    empty_rows += keys == 0;
    row_nnz_max = std::max(row_nnz_max, keys);
    runs_max = std::max(runs_max, runs);
    runs_total += runs;
  }
  void add_pieces(int64_t pieces) {
    pieces_max = std::max(pieces_max, pieces);
    pieces_total += pieces;
    affine_rows += pieces == 1;
  }
  void merge(const RowTotals& other) {
    nnz += other.nnz, empty_rows += other.empty_rows, row_nnz_max = std::max(row_nnz_max, other.row_nnz_max);
    runs_max = std::max(runs_max, other.runs_max), runs_total += other.runs_total;
    pieces_max = std::max(pieces_max, other.pieces_max), pieces_total += other.pieces_total, affine_rows += other.affine_rows;
  }
  void store(const CountRequest& request, MaskCounts& counts) const {
    counts.nnz = nnz, counts.empty_rows = empty_rows, counts.row_nnz_max = row_nnz_max;
    counts.contig_runs_max = runs_max, counts.contig_runs_total = runs_total;
    if (request.pieces) counts.row_runs_max = pieces_max, counts.row_runs_total = pieces_total, counts.affine_rows = affine_rows;
  }
};

inline void merge(TileCounts& to, const TileCounts& from) {
  to.empty += from.empty, to.full += from.full, to.partial += from.partial;
  to.full_pairs += from.full_pairs, to.partial_pairs += from.partial_pairs;
}

/// How rows are cut into units of work: whole row blocks of every tile shape, at least about `least` rows.
int64_t unit_rows(const CountRequest& request, Lengths lengths, int64_t least);

/// Rows 0, sq/3, 2*sq/3, sq-1, ascending, without repeats; none when sq is 0.
std::vector<int64_t> sampled_rows(int64_t sq);

}  // namespace heddle::analysis
