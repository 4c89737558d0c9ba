// Evaluates a bind program over ranges: one row block, then many ranges of keys.
#pragma once
#include <memory>
#include <vector>
#include "runtime/bind.h"
#include "runtime/table_ranges.h"

namespace heddle::runtime {

/// Used by one thread. Allocates only when made and when a read reduces rows longer than before.
class BindEvaluator {
 public:
  /// `tables` in the order of the input's, null where no step reads one; all must outlive this.
  BindEvaluator(const BindInput& input, const std::vector<std::unique_ptr<TableRanges>>& tables);
  /// Fixes batch, head and rows; computes all that does not depend on keys.
  void fix(Interval batch, Interval head, Interval rows);
  /// What is known of the mask over the fixed rows and these keys: [0, 0] never, [1, 1] always, else [0, 1].
  Interval over(Interval keys);
  /// Whether every value of every step over the fixed rows and the last keys fits in 32 bits.
  bool narrow() const;

 private:
  struct Read {
    ReadRanges ranges;
    const int32_t* index = nullptr;
    size_t rank = 0;
  };
  /// A step made ready: parameters and what follows from the text alone are constants; the value of a Read is its place in reads_.
  struct Ready {
    BindStep step;
    size_t at = 0;  ///< In values_.
  };
  BindStep ready(const BindInput& input, const std::vector<std::unique_ptr<TableRanges>>& tables, const BindStep& step);
  bool depends_on_keys(const BindStep& step) const;
  void run(const std::vector<Ready>& steps);
  Interval compute(const BindStep& step);
  Interval read(Read& read);

  const BindProgram& program_;
  std::vector<Interval> values_;          ///< Of the steps of the program.
  std::vector<bool> by_key_;              ///< Whether a step depends on k.
  std::vector<Ready> by_rows_, by_keys_;  ///< Steps that do not depend on k, and those that do.
  std::vector<Read> reads_;
  Interval variables_[9];
};

}  // namespace heddle::runtime
