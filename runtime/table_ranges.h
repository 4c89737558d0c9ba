// Ranges of table elements over ranges of indices, in about constant time.
//
// A row of elements gets a pyramid: minima and maxima of blocks of 16 elements, of pairs of blocks, of pairs of pairs, ... (a segment tree
// over blocks). A read of a table with more dimensions first reduces the rows of its leading indices to a row of minima and a row of
// maxima, once for as long as those indices stay the same.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>
#include "heddle/bind_program.h"
#include "runtime/bind_interval.h"

namespace heddle::runtime {

/// Minima and maxima over a dense row; the row must outlive it.
class RangePyramid {
 public:
  static constexpr int64_t kBlock = 16;

  /// Element i lies between low[i] and high[i]; the two may be one array. Reuses memory.
  void build(const void* low, const void* high, DType dtype, int64_t size);
  /// The range of elements first to last, 0 <= first <= last < size.
  Interval query(int64_t first, int64_t last) const;

 private:
  using Scan = Interval (*)(const void* low, const void* high, int64_t first, int64_t last);
  template <typename T>
  void build_of(const void* low, const void* high, int64_t size);
  Interval blocks(int64_t first, int64_t last) const;

  const void *low_ = nullptr, *high_ = nullptr;
  int64_t size_ = 0;
  Scan scan_ = nullptr;
  std::vector<Interval> nodes_;        ///< Level after level; a last node without a partner goes up alone.
  std::vector<int64_t> level_start_;
};

/// A table seen without the dimensions that do not matter: those of extent 1 or stride 0. Shared by threads.
class TableRanges {
 public:
  struct Dimension {
    int source = 0;  ///< Of the table as given.
    int64_t extent = 1, stride = 1;
  };

  explicit TableRanges(const Tensor& table);
  bool empty() const { return empty_; }
  DType dtype() const { return dtype_; }
  const void* data() const { return data_; }
  const std::vector<Dimension>& dimensions() const { return dimensions_; }  ///< At least one.
  /// Of a table with one dimension left, else null.
  const RangePyramid* line() const { return line_ ? &*line_ : nullptr; }
  Interval whole() const;

 private:
  const void* data_;
  DType dtype_;
  bool empty_ = false;
  std::vector<Dimension> dimensions_;
  std::unique_ptr<RangePyramid> line_;
  std::vector<std::byte> dense_;  ///< The elements of a line with a stride.
  mutable std::once_flag whole_known_;
  mutable Interval whole_;
};

/// One read of a table, used by one thread.
class ReadRanges {
 public:
  static constexpr int64_t kMostRows = 2048;                      ///< Reduced to one.
  static constexpr int64_t kMostDirect = 4096, kMostRoaming = 256;  ///< Elements looked at one by one, once a row block and at every query.

  /// `varies[d]`: index d takes many ranges while the others rest. The table must outlive this.
  ReadRanges(const TableRanges& table, const std::vector<bool>& varies);
  /// Contains every element at indices within the given ranges, clamped into the table; exactly their range unless there are more
  /// than kMostRows leading rows, or several indices vary and the ranges have more than kMostRoaming elements.
  Interval range(const Interval* indices);

 private:
  struct Box {
    Interval index[kMaxTableRank];
    bool operator==(const Box&) const = default;
  };
  Interval of_elements(const Interval* indices);
  Interval of_rows(Interval along);
  void reduce();

  const TableRanges* table_;
  std::vector<TableRanges::Dimension> order_;  ///< Leading dimensions by falling stride, then the one that varies.
  bool varies_ = false, roams_ = false;        ///< The last of `order_` does; one before it does.
  Box box_, reduced_;                          ///< Leading ranges of this query and of the rows in the pyramid.
  bool known_ = false;
  RangePyramid pyramid_;
  std::vector<std::byte> low_, high_;
};

}  // namespace heddle::runtime
