// One row of equal cells laid over the columns of a mask: how many columns of the strips given to it fall into each cell.
//
// A strip costs O(1) whatever it spans: the cells at its ends are counted in closed form; the cells between hold equal numbers where
// the cell width is a multiple of the strip's period, or but for few cells nearly is, and otherwise numbers that depend only on the
// strip's phase, which strips share; strips of fewer columns than cells are counted column by column.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>
#include "src/analysis/strip.h"

namespace heddle::analysis {

class CellSweep {
 public:
  /// `width` columns a cell; strips must lie in [0, width * cells).
  CellSweep(int64_t width, int64_t cells);

  void add(const Strip& strip);
  /// Adds the columns of all strips since the last call to totals[0 .. cells).
  void finish(int64_t* totals);
  /// Steps since the last call.
  int64_t take_work() { return std::exchange(work_, 0); }

 private:
  /// Columns phase + m * period + i * stride, i in [0, count), for every integer m.
  struct Pattern {
    int64_t stride, count, period, phase;
    bool operator==(const Pattern&) const = default;
  };
  struct Hash {
    size_t operator()(const Pattern& pattern) const;
  };

  void add_between(const Strip& strip, int64_t from, int64_t to, int64_t columns);
  void add_equal(int64_t from, int64_t to, int64_t each);
  void add_each(const Strip& strip, int64_t from, int64_t to);
  void mark_exceptions(const Strip& strip, int64_t from, int64_t to, bool longer);
  void add_columns(const Strip& strip, int64_t from, int64_t to);
  int64_t* changes_of(const Pattern& pattern);
  void fold_patterns();
  void fold(const Pattern& pattern, const int64_t* changes);

  int64_t work_ = 0;
  int64_t width_, cells_;
  std::vector<int64_t> own_;      ///< Columns by cell.
  std::vector<int64_t> changes_;  ///< Of columns a cell from one cell to the next; one entry more than cells.
  std::unordered_map<Pattern, size_t, Hash> patterns_;  ///< To its place in pattern_changes_.
  std::vector<int64_t> pattern_changes_;                ///< Of rows that have the pattern, cells + 1 entries a pattern.
};

}  // namespace heddle::analysis
