// Evaluates a bind program exactly, pair by pair: rows one by one, keys in the lanes of vectors.
//
// Every step is computed as rarely as its variables allow: once a list, once a row (rows in lanes), once a strip of keys (keys in lanes),
// or once a row and strip. Values are 32 bits wide where the caller knows that all of them fit, else 64.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>
#include "runtime/bind.h"

namespace heddle::runtime {

enum class TileClass : uint8_t { Empty, Partial, Full };

/// Used by one thread. Allocates only when made.
class BindPairs {
 public:
  explicit BindPairs(const BindInput& input);
  /// Fixes batch and head, 0 where the mask depends on neither, and `rows` rows from `row` on, at most BindInput::tile_rows.
  void fix(int64_t batch, int64_t head, int64_t row, int64_t rows);
  /// Most tiles of one call of classify(), at least 1.
  int64_t most_tiles() const { return most_tiles_; }
  /// The exact classes of `count` key tiles from `first` on; a tile that the last key cuts is never full. `narrow`: all values of all
  /// steps over these rows and keys fit in 32 bits. Returns the number of rows that it had to look at.
  int64_t classify(int64_t first, int64_t count, bool narrow, TileClass* classes);

 private:
  /// What a step varies with; a step varies with all that its operands do.
  enum Axis : uint8_t { kList = 0, kRows = 1, kKeys = 2, kPairs = 3 };
  struct Step {
    BindStep step;
    Axis axis = kList;
    size_t at = 0;      ///< Its place in the program.
    int8_t slope = 0;   ///< The change of the value from one key to the next: 1, -1, 0, or kUnknownSlope.
  };
  static constexpr int8_t kUnknownSlope = 2;
  template <typename T>
  struct Values;

  Step prepared(const BindInput& input, size_t at) const;
  Axis axis_of(const BindStep& step) const;
  int8_t slope_of(const BindStep& step, Axis axis) const;
  template <typename T>
  std::vector<T>& storage();
  template <typename T>
  int64_t classify_as(int64_t first, int64_t count, TileClass* classes);
  template <typename T>
  int64_t sweep_rows(Values<T>& values, int64_t tiles, int64_t keys, TileClass* classes);

  const BindInput& input_;
  std::vector<Step> steps_;
  std::vector<Step> by_axis_[4];
  std::vector<int64_t> row_order_;  ///< Of a whole block: far apart first.
  int64_t most_tiles_, lanes_;      ///< `lanes_`: of every step, for the longest strip and for the rows of a block.
  int64_t batch_ = 0, head_ = 0, row_ = 0, rows_ = 0;
  bool narrow_rows_ = false, wide_rows_ = false;  ///< Steps of the list and its rows are computed, in either width.
  std::vector<int32_t> narrow_;     ///< Values of the steps, lanes_ each; then two strips of what was seen.
  std::vector<int64_t> wide_;
};

}  // namespace heddle::runtime
