// Where counts get the rows of a mask from: many rows at a time, the keys of each as strips.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>
#include "src/analysis/strip.h"
#include "src/analysis/work_meter.h"

namespace heddle::analysis {

/// Strips of consecutive rows, row by row; the strips of a row are disjoint and ascend by first column.
struct RowBatch {
  int64_t first_row = 0;
  std::vector<Strip> strips;
  std::vector<int32_t> begin;  ///< Of row i: strips[begin[i]] .. strips[begin[i + 1]]; one more entry than rows.
  int rows() const { return static_cast<int>(begin.size()) - 1; }
  const Strip* row(int i) const { return strips.data() + begin[i]; }
  int size(int i) const { return begin[i + 1] - begin[i]; }
};

/// A strip and its row, counted from the first of a batch.
struct RowStrip {
  int32_t row;
  Strip strip;
};

/// Sorts strips into rows [first, first + n), and those of a row by their first columns.
void store_rows(const std::vector<RowStrip>& strips, int64_t first, int n, RowBatch& out);

/// Not thread safe: one object a thread.
class RowSource {
 public:
  static constexpr int kMostRows = 256;  ///< Of one read.
  virtual ~RowSource() = default;
  /// Rows [first, first + n), n <= kMostRows. `out` is reused. Throws OverWork.
  virtual void read(int64_t first, int n, RowBatch& out) = 0;
};

/// Makes a source that tells its steps to the meter, which outlives it.
using MakeSource = std::function<std::unique_ptr<RowSource>(WorkMeter&)>;

/// Calls visit(row, strips, n) for rows [begin, end).
template <typename Visit>
void each_row(RowSource& source, int64_t begin, int64_t end, RowBatch& batch, const Visit& visit) {
  for (int64_t at = begin; at < end; at += batch.rows()) {
    source.read(at, static_cast<int>(std::min<int64_t>(RowSource::kMostRows, end - at)), batch);
    for (int i = 0; i < batch.rows(); ++i) visit(at + i, batch.row(i), batch.size(i));
  }
}

}  // namespace heddle::analysis
