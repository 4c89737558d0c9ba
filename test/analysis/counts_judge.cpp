#include "test/analysis/counts_judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::analysis::test {
namespace {

std::vector<int64_t> keys_of(const DenseMask& mask, int64_t q) {
  std::vector<int64_t> keys;
  for (int64_t k = 0; k < mask.lengths.sk; ++k) {
    if (mask.at(q, k)) keys.push_back(k);
  }
  return keys;
}

/// A piece starts at the first uncovered column, its stride is the distance to the next one, it goes on while that repeats.
int64_t greedy_pieces(const std::vector<int64_t>& keys) {
  int64_t pieces = 0;
  for (size_t i = 0; i < keys.size(); ++pieces) {
    size_t end = i + 1;
    while (end < keys.size() && keys[end] - keys[end - 1] == keys[i + 1] - keys[i]) ++end;
    i = end;
  }
  return pieces;
}

int64_t contiguous_runs(const std::vector<int64_t>& keys) {
  int64_t runs = 0;
  for (size_t i = 0; i < keys.size(); ++i) runs += i == 0 || keys[i] != keys[i - 1] + 1;
  return runs;
}

TileCounts tile_classes(const DenseMask& mask, TileShape shape) {
  TileCounts counts;
  const auto [sq, sk] = mask.lengths;
  for (int64_t q0 = 0; q0 < sq; q0 += shape.rows) {
    for (int64_t k0 = 0; k0 < sk; k0 += shape.cols) {
      int64_t allowed = 0, pairs = 0;
      for (int64_t q = q0; q < std::min(q0 + shape.rows, sq); ++q) {
        for (int64_t k = k0; k < std::min(k0 + shape.cols, sk); ++k) ++pairs, allowed += mask.at(q, k);
      }
      ++(allowed == 0 ? counts.empty : allowed == pairs ? counts.full : counts.partial);
      if (allowed == pairs) counts.full_pairs += pairs;
      if (allowed > 0 && allowed < pairs) counts.partial_pairs += pairs;
    }
  }
  return counts;
}

uint64_t fnv1a64(const DenseMask& mask) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int64_t q = 0; q < mask.lengths.sq; ++q) {
    for (int64_t k0 = 0; k0 < mask.lengths.sk; k0 += 8) {
      unsigned byte = 0;
      for (int64_t k = k0; k < std::min(k0 + 8, mask.lengths.sk); ++k) byte |= unsigned{mask.at(q, k)} << (k - k0);
      hash = (hash ^ byte) * 0x100000001b3;
    }
  }
  return hash;
}

std::vector<SampleRow> samples(const DenseMask& mask) {
  const int64_t sq = mask.lengths.sq;
  std::vector<SampleRow> rows;
  for (int64_t q : {int64_t{0}, sq / 3, 2 * sq / 3, sq - 1}) {
    if (sq == 0 || (!rows.empty() && rows.back().row == q)) continue;
    const std::vector<int64_t> keys = keys_of(mask, q);
    rows.push_back({q, keys.empty() ? -1 : keys.front(), keys.empty() ? -1 : keys.back(), static_cast<int64_t>(keys.size())});
  }
  return rows;
}

}  // namespace

MaskCounts judge(const DenseMask& mask, const std::vector<TileShape>& shapes) {
  MaskCounts counts;
  int64_t pieces_max = 0, pieces_total = 0, affine_rows = 0, empty_cols = 0;
  for (int64_t q = 0; q < mask.lengths.sq; ++q) {
    const std::vector<int64_t> keys = keys_of(mask, q);
    const int64_t n = static_cast<int64_t>(keys.size()), pieces = greedy_pieces(keys), runs = contiguous_runs(keys);
    counts.nnz += n, counts.empty_rows += n == 0, counts.row_nnz_max = std::max(counts.row_nnz_max, n);
    counts.contig_runs_max = std::max(counts.contig_runs_max, runs), counts.contig_runs_total += runs;
    pieces_max = std::max(pieces_max, pieces), pieces_total += pieces, affine_rows += pieces == 1;
  }
  for (int64_t k = 0; k < mask.lengths.sk; ++k) {
    bool empty = true;
    for (int64_t q = 0; q < mask.lengths.sq; ++q) empty = empty && !mask.at(q, k);
    empty_cols += empty;
  }
  counts.empty_cols = empty_cols, counts.row_runs_max = pieces_max, counts.row_runs_total = pieces_total;
  counts.affine_rows = affine_rows, counts.fnv1a64 = fnv1a64(mask), counts.sample_rows = samples(mask);
  for (const TileShape& shape : shapes) counts.tiles[shape] = tile_classes(mask, shape);
  return counts;
}

std::string text(const MaskCounts& c) {
  std::string all = fmt::format("nnz {} empty rows {} cols {} row nnz {} pieces {} {} affine {} runs {} {} hash {:x}\n", c.nnz,
                                c.empty_rows, c.empty_cols.value_or(-1), c.row_nnz_max, c.row_runs_max.value_or(-1),
                                c.row_runs_total.value_or(-1), c.affine_rows.value_or(-1), c.contig_runs_max, c.contig_runs_total,
                                c.fnv1a64.value_or(0));
  for (const auto& [shape, t] : c.tiles) {
    all += fmt::format("{}x{}: {} {} {}, pairs {} {}\n", shape.rows, shape.cols, t.empty, t.full, t.partial, t.full_pairs, t.partial_pairs);
  }
  for (const SampleRow& row : c.sample_rows) all += fmt::format("row {}: {} {} {}\n", row.row, row.first, row.last, row.count);
  return all;
}

}  // namespace heddle::analysis::test
