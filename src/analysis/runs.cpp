#include "src/analysis/runs.h"

#include <algorithm>

namespace heddle::analysis {
namespace {

bool interleaved(const Strip* strips, int n) {
  for (int i = 1; i < n; ++i) {
    if (strips[i].first <= strips[i - 1].last()) return true;
  }
  return false;
}

int64_t runs_of(const Strip& strip) {
  const int64_t inner = strip.stride == 1 ? 1 : strip.count;
  const bool touching = strip.step - strip.inner_span() == 1;
  return inner * strip.repeats - (touching ? strip.repeats - 1 : 0);
}

}  // namespace

int64_t RunCounter::contiguous(const Strip* strips, int n) {
  if (n == 0) return 0;
  if (interleaved(strips, n)) return merged_runs(strips, n);
  int64_t total = runs_of(strips[0]);
  for (int i = 1; i < n; ++i) total += runs_of(strips[i]) - (strips[i].first == strips[i - 1].last() + 1);
  return total;
}

int64_t RunCounter::merged_runs(const Strip* strips, int n) {
  runs_.clear();
  for (int i = 0; i < n; ++i) {
    if (strips[i].stride == 1) {
      each_progression(strips[i], [&](int64_t first, int64_t, int64_t count) { runs_.push_back({first, first + count - 1}); });
    } else {
      each_column(strips[i], [&](int64_t column) { runs_.push_back({column, column}); });
    }
  }
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
  work_ += 16 * static_cast<int64_t>(runs_.size());
  int64_t total = 1;
  for (size_t i = 1; i < runs_.size(); ++i) total += runs_[i].first != runs_[i - 1].last + 1;
  return total;
}

int64_t RunCounter::pieces(const Strip* strips, int n) {
  PieceScanner scanner;
  if (!interleaved(strips, n)) {
    for (int i = 0; i < n; ++i) {
      each_progression(strips[i], [&](int64_t first, int64_t stride, int64_t count) { scanner.take(first, stride, count); });
    }
    return scanner.pieces();
  }
  columns_.clear();
  for (int i = 0; i < n; ++i) each_column(strips[i], [&](int64_t column) { columns_.push_back(column); });
  std::sort(columns_.begin(), columns_.end());
  work_ += 16 * static_cast<int64_t>(columns_.size());
  for (int64_t column : columns_) scanner.take(column, 1, 1);
  return scanner.pieces();
}

void PieceScanner::start(int64_t first, int64_t stride, int64_t count) {
  ++pieces_;
  last_ = first + (count - 1) * stride;
  stride_ = count > 1 ? stride : 0;
}

void PieceScanner::take(int64_t first, int64_t stride, int64_t count) {
  const int64_t distance = first - last_;
  const bool open = pieces_ > 0 && stride_ == 0;  // A piece of one column: the next column gives its stride.
  if (!open && (pieces_ == 0 || distance != stride_)) return start(first, stride, count);
  stride_ = distance;
  last_ = first;
  if (count == 1) return;
  if (stride == stride_) {
    last_ = first + (count - 1) * stride;
  } else {
    start(first + stride, stride, count - 1);
  }
}

}  // namespace heddle::analysis
