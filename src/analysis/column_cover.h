// Which columns have an allowed key in some row: O(1) per progression of a row, O(columns) per distinct stride at the end.
#pragma once
#include <cstdint>
#include <map>
#include <vector>
#include "src/analysis/strip.h"

namespace heddle::analysis {

class ColumnCover {
 public:
  explicit ColumnCover(int64_t columns) : columns_(columns) {}
  /// Adds the strips of one row.
  void add(const Strip* strips, int n);
  /// Adds what another cover of the same columns has seen.
  void merge(const ColumnCover& other);
  /// Columns never seen.
  int64_t empty() const;

 private:
  /// marks[c] += 1 where a progression of this stride starts, marks[last + stride] -= 1: a running sum with that stride counts the
  /// progressions through each column.
  using Marks = std::vector<int64_t>;
  Marks& marks(int64_t stride);

  int64_t columns_;
  std::map<int64_t, Marks> by_stride_;
  std::vector<Strip> previous_;  ///< The last row, to skip what repeats.
  int64_t recent_stride_ = 0;
  Marks* recent_ = nullptr;
};

}  // namespace heddle::analysis
