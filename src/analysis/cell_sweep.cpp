#include "src/analysis/cell_sweep.h"

#include <algorithm>

namespace heddle::analysis {
namespace {

constexpr int64_t kFewCells = 6;         ///< Up to here cells are counted one by one.
constexpr int64_t kStripSteps = 16, kCellSteps = 4;
constexpr size_t kMostPatterns = 4096;   ///< Kept apart at once.

/// Columns in [0, width) of a pattern one of whose groups starts at `start`, 0 <= start < period.
int64_t columns_in(int64_t stride, int64_t count, int64_t period, int64_t start, int64_t width) {
  const Strip strip{start - period, stride, count, period, width / period + 2};
  return count_below(strip, width) - count_below(strip, 0);
}

}  // namespace

size_t CellSweep::Hash::operator()(const Pattern& pattern) const {
  uint64_t mixed = static_cast<uint64_t>(pattern.phase) * 0x9e3779b97f4a7c15ULL;
  mixed ^= (mixed >> 29) + static_cast<uint64_t>(pattern.period) * 0xff51afd7ed558ccdULL;
  mixed ^= static_cast<uint64_t>(pattern.stride) * 0xc4ceb9fe1a85ec53ULL + static_cast<uint64_t>(pattern.count);
  return mixed ^ mixed >> 32;
}

CellSweep::CellSweep(int64_t width, int64_t cells) : width_(width), cells_(cells), own_(cells), changes_(cells + 1) {}

void CellSweep::add(const Strip& strip) {
  work_ += kStripSteps;
  const int64_t from = strip.first / width_, to = strip.last() / width_, size = strip.size();
  if (from == to) {
    own_[from] += size;
    return;
  }
  const int64_t head = count_below(strip, (from + 1) * width_), before = count_below(strip, to * width_);
  own_[from] += head;
  own_[to] += size - before;
  if (to - from > 1) add_between(strip, from + 1, to, before - head);
}

/// The `columns` of the strip in the cells [from, to), all of which it spans.
void CellSweep::add_between(const Strip& strip, int64_t from, int64_t to, int64_t columns) {
  const bool nested = strip.repeats > 1;
  const int64_t period = nested ? strip.step : strip.stride;
  const int64_t each = width_ / period, longer = columns - each * (to - from);  // cells of one column more, unless nested
  if (width_ % period == 0) {
    add_equal(from, to, columns / (to - from));
  } else if (to - from <= kFewCells) {
    add_each(strip, from, to);
  } else if (!nested && longer <= kFewCells) {
    add_equal(from, to, each);
    mark_exceptions(strip, from, to, true);
  } else if (!nested && to - from - longer <= kFewCells) {
    add_equal(from, to, each + 1);
    mark_exceptions(strip, from, to, false);
  } else if (!nested && columns <= cells_) {
    add_columns(strip, from, to);
  } else {
    int64_t* changes = changes_of({nested ? strip.stride : 1, nested ? strip.count : 1, period, strip.first % period});
    ++changes[from];
    --changes[to];
  }
}

void CellSweep::add_equal(int64_t from, int64_t to, int64_t each) {
  changes_[from] += each;
  changes_[to] -= each;
}

/// Adds 1 to the cells of [from, to) with one column more than the others (`longer`), or takes 1 from those with one less. A cell has one
/// more where its first column lies before `rest`; from cell to cell that column moves down by rest, or up by period - rest.
void CellSweep::mark_exceptions(const Strip& strip, int64_t from, int64_t to, bool longer) {
  const int64_t period = strip.stride, rest = width_ % period, gap = period - rest;
  int64_t start = (period - (from * width_ - strip.first) % period) % period;
  for (int64_t cell = from; cell < to;) {
    const bool more = start < rest;
    if (more == longer) {
      own_[cell++] += longer ? 1 : -1;
      start += more ? gap : -rest;
    } else {  // to the next one at once
      const int64_t skipped = more ? (rest - start + gap - 1) / gap : start / rest;
      cell += skipped;
      start += more ? skipped * gap : -skipped * rest;
    }
  }
}

void CellSweep::add_each(const Strip& strip, int64_t from, int64_t to) {
  int64_t before = count_below(strip, from * width_);
  for (int64_t cell = from; cell < to; ++cell) {
    const int64_t below = count_below(strip, (cell + 1) * width_);
    own_[cell] += below - before;
    before = below;
  }
}

/// Column by column: cheaper than a pattern that few strips share.
void CellSweep::add_columns(const Strip& strip, int64_t from, int64_t to) {
  const int64_t skipped = (from * width_ - strip.first + strip.stride - 1) / strip.stride;
  for (int64_t at = strip.first + skipped * strip.stride; at < to * width_; at += strip.stride) ++own_[at / width_], ++work_;
}

int64_t* CellSweep::changes_of(const Pattern& pattern) {
  if (patterns_.size() == kMostPatterns && !patterns_.contains(pattern)) fold_patterns();
  const auto [entry, fresh] = patterns_.try_emplace(pattern, pattern_changes_.size());
  if (fresh) pattern_changes_.resize(pattern_changes_.size() + cells_ + 1);
  return pattern_changes_.data() + entry->second;
}

void CellSweep::fold_patterns() {
  for (const auto& [pattern, at] : patterns_) fold(pattern, pattern_changes_.data() + at);
  patterns_.clear();
  pattern_changes_.clear();
}

void CellSweep::fold(const Pattern& pattern, const int64_t* changes) {
  const int64_t period = pattern.period, whole = width_ / period, rest = width_ % period;
  work_ += kCellSteps * cells_;
  int64_t rows = 0, start = pattern.phase;
  for (int64_t cell = 0; cell < cells_; ++cell) {
    rows += changes[cell];
    const int64_t each = pattern.count == 1 ? whole + (start < rest)
                         : rows == 0        ? 0
                                            : columns_in(pattern.stride, pattern.count, period, start, width_);
    own_[cell] += rows * each;
    start += start < rest ? period - rest : -rest;
  }
}

void CellSweep::finish(int64_t* totals) {
  fold_patterns();
  int64_t each = 0;
  for (int64_t cell = 0; cell < cells_; ++cell) totals[cell] += own_[cell] + (each += changes_[cell]);
  std::fill(own_.begin(), own_.end(), 0);
  std::fill(changes_.begin(), changes_.end(), 0);
}

}  // namespace heddle::analysis
