#include "src/analysis/column_cover.h"

#include <algorithm>

namespace heddle::analysis {

ColumnCover::Marks& ColumnCover::marks(int64_t stride) {
  if (recent_ && recent_stride_ == stride) return *recent_;
  const auto [at, added] = by_stride_.try_emplace(stride);
  if (added) at->second.resize(columns_);
  recent_stride_ = stride;
  recent_ = &at->second;
  return *recent_;
}

void ColumnCover::add(const Strip* strips, int n) {
  for (int i = 0; i < n; ++i) {
    if (i < static_cast<int>(previous_.size()) && previous_[i] == strips[i]) continue;
    each_progression(strips[i], [&](int64_t first, int64_t stride, int64_t count) {
      Marks& at = marks(stride);
      at[first] += 1;
      const int64_t end = first + count * stride;
      if (end < columns_) at[end] -= 1;
    });
  }
  previous_.assign(strips, strips + n);
}

void ColumnCover::merge(const ColumnCover& other) {
  for (const auto& [stride, theirs] : other.by_stride_) {
    Marks& ours = marks(stride);
    for (int64_t c = 0; c < columns_; ++c) ours[c] += theirs[c];
  }
}

int64_t ColumnCover::empty() const {
  std::vector<bool> seen(columns_);
  for (const auto& [stride, marks] : by_stride_) {
    Marks sums = marks;
    for (int64_t c = 0; c < columns_; ++c) {
      if (c >= stride) sums[c] += sums[c - stride];
      if (sums[c] > 0) seen[c] = true;
    }
  }
  return std::count(seen.begin(), seen.end(), false);
}

}  // namespace heddle::analysis
