// Runs of adjacent columns and greedy affine pieces of one row given as disjoint strips.
//
// Closed form, O(strips), where strips do not interleave (O(inner progressions) for the pieces); a merge over columns otherwise.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>
#include "src/analysis/strip.h"

namespace heddle::analysis {

class RunCounter {
 public:
  /// Maximal runs of adjacent columns. The strips ascend by first column.
  int64_t contiguous(const Strip* strips, int n);
  /// Affine pieces, greedy from the left: a piece starts at the first uncovered column, its stride is the distance to the next one,
  /// it goes on while the distance repeats; the next piece starts at the next column. [0 1 2 9 11] is 2.
  int64_t pieces(const Strip* strips, int n);

  /// Steps beyond those of closed forms since the last call.
  int64_t take_work() { return std::exchange(work_, 0); }

 private:
  struct Run {
    int64_t first, last;
  };
  int64_t work_ = 0;
  int64_t merged_runs(const Strip* strips, int n);
  std::vector<Run> runs_;        ///< Scratch.
  std::vector<int64_t> columns_;
};

/// Greedy affine pieces of ascending columns, fed progression by progression.
class PieceScanner {
 public:
  void take(int64_t first, int64_t stride, int64_t count);
  int64_t pieces() const { return pieces_; }

 private:
  void start(int64_t first, int64_t stride, int64_t count);
  int64_t pieces_ = 0, last_ = 0;
  int64_t stride_ = 0;    ///< Of the current piece; 0 while it has one column.
};

}  // namespace heddle::analysis
