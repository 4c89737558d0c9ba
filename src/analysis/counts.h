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
#include "src/analysis/ranged_rows.h"
#include "src/analysis/work_meter.h"
#include "src/ir/evaluate.h"

namespace heddle::analysis {

struct TileCounts {
  int64_t empty = 0, full = 0, partial = 0;
  int64_t full_pairs = 0, partial_pairs = 0;  ///< Pairs of the mask in full and in partial tiles, allowed or not.

  /// `tiles` tiles of `area` pairs each, of which `allowed` are allowed.
  void add(int64_t allowed, int64_t area, int64_t tiles) {
    if (allowed == 0) {
      empty += tiles;
    } else if (allowed == area) {
      full += tiles, full_pairs += area * tiles;
    } else {
      partial += tiles, partial_pairs += area * tiles;
    }
  }
  /// Share of the tiles that are not empty, in [0, 1]; 0 without tiles.
  double density() const {
    const int64_t visited = full + partial;
    return visited == 0 ? 0 : static_cast<double>(visited) / static_cast<double>(visited + empty);
  }
  /// Pairs in tiles that are not empty: every allowed pair is one of them.
  int64_t visited_pairs() const { return full_pairs + partial_pairs; }
  bool operator==(const TileCounts&) const = default;
};

struct SampleRow {
  int64_t row = 0, first = -1, last = -1, count = 0;
  bool operator==(const SampleRow&) const = default;
};

/// Steps of a pair that is evaluated: parts that depend on q or k alone cost little.
inline constexpr int64_t kPairSteps = 2;

/// How a mask without closed form may be counted, and when counting is given up.
struct CountLimits {
  int64_t most_steps = WorkMeter::kNoLimit;  ///< About nanoseconds of one thread.
  const KnownRanges* known = nullptr;        ///< Of a mask without closed form: only what they leave open is evaluated.
};

struct CountRequest {
  std::vector<TileShape> tiles = {{64, 64}};  ///< Edge tiles are clipped: full means every pair inside the mask is allowed.
  bool pieces = false;     ///< row_runs_*, affine_rows (greedy pieces): O(nnz) in the worst case.
  bool columns = false;    ///< empty_cols.
  bool checksum = false;   ///< fnv1a64 of the bit matrix: O(Sq * Sk / 8).
  bool runs = true;        ///< contig_runs_*.
  int threads = 2;
  CountLimits limits{};
};

struct MaskCounts {
  int64_t nnz = 0, empty_rows = 0, row_nnz_max = 0, contig_runs_max = 0, contig_runs_total = 0;
  std::optional<int64_t> empty_cols, row_runs_max, row_runs_total, affine_rows;
  std::map<TileShape, TileCounts> tiles;
  std::vector<SampleRow> sample_rows;  ///< Rows 0, sq/3, 2*sq/3, sq-1 without repeats; none when sq is 0.
  std::optional<uint64_t> fnv1a64;
  Proof proof = Proof::Symbolic;       ///< What the counts were computed from.
  double milliseconds = 0;
  int64_t steps = 0;                   ///< Taken, as CountLimits counts them.

  /// Share of all pairs that is allowed, in [0, 1]; 0 without pairs.
  double density(Lengths lengths) const {
    return nnz == 0 ? 0 : static_cast<double>(nnz) / (static_cast<double>(lengths.sq) * static_cast<double>(lengths.sk));
  }
};

/// Throws UserError when a value or table that the mask needs is missing or does not fit (ir::check_tables).
void check_inputs(const MaskFacts& facts, Lengths lengths, const std::map<std::string, int64_t>& ints, const ir::Tables& tables);

/// Counts at lengths sq x sk (both may be 0). `ints`: values of b, h, sizes other than Sq and Sk, and dynamic parameters that
/// the mask mentions; `tables`: those that it reads. Throws UserError when one is missing, and for a table that certainly does not fit
/// (ir::check_tables), and OverWork beyond the limit of the request.
MaskCounts count(const MaskFacts& facts, Lengths lengths, const CountRequest& request,
                 const std::map<std::string, int64_t>& ints = {}, const ir::Tables& tables = {});

}  // namespace heddle::analysis
