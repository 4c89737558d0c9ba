#include "src/analysis/tile_sweep.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace heddle::analysis {
namespace {

constexpr int64_t kLongestPeriod = 4096;  ///< Beyond it a row block is counted tile by tile.
constexpr int64_t kKeysOfAnEntry = 32;    ///< That take as long as an entry does.
constexpr int64_t kTilesOfAStep = 8;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

size_t slot_of(int64_t first, int64_t step, int64_t count) {
  const uint64_t mixed = static_cast<uint64_t>(first) * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(step) * 0xff51afd7ed558ccdULL +
                         static_cast<uint64_t>(count) * 0xc4ceb9fe1a85ec53ULL;
  return mixed >> 58;
}

}  // namespace

TileSweep::TileSweep(TileShape shape, Lengths lengths, Scope scope)
    : shape_(shape), lengths_(lengths), key_tiles_(ceil_div(lengths.sk, shape.cols)),
      first_tile_(scope == Scope::All ? 0 : lengths.sk / shape.cols) {
  recent_.fill(-1);
}

void TileSweep::add(int64_t row, const Strip* strips, int n) {
  const bool cut = row >= lengths_.sq - lengths_.sq % shape_.rows;
  if (cut || first_tile_ < key_tiles_) {
    for (int i = 0; i < n; ++i) {
      if (cut || strips[i].last() >= first_tile_ * shape_.cols) add_strip(strips[i]);
    }
  }
  if ((row + 1) % shape_.rows == 0 || row + 1 == lengths_.sq) finish_block(row);
}

/// One progression with a key or none in each tile that closed forms would take apart into too many others.
bool TileSweep::is_sparse(const Strip& strip) const {
  if (strip.repeats > 1 || strip.stride <= shape_.cols) return false;
  return strip.count <= kKeysOfAnEntry * (shape_.cols / std::gcd(strip.stride, shape_.cols));
}

void TileSweep::add_keys(const Strip& strip) {
  work_ += strip.count;
  if (!has_dense_) dense_.assign(static_cast<size_t>(key_tiles_), 0), has_dense_ = true;
  const int64_t cols = shape_.cols, tiles = strip.stride / cols, rest = strip.stride % cols;
  int64_t tile = strip.first / cols, column = strip.first % cols;
  for (int64_t i = 0; i < strip.count; ++i) {
    ++dense_[static_cast<size_t>(tile)];
    column += rest;
    const bool next = column >= cols;
    tile += tiles + next;
    column -= next ? cols : 0;
  }
}

void TileSweep::add_strip(const Strip& strip) {
  if (is_sparse(strip)) return add_keys(strip);
  if (strip.repeats == 1 || strip.step % shape_.cols == 0) return add_aligned(strip);
  const int64_t parts = std::lcm(strip.step, shape_.cols) / strip.step;
  for (int64_t j = 0; j < std::min(parts, strip.repeats); ++j) {
    const int64_t repeats = ceil_div(strip.repeats - j, parts);
    add_aligned({strip.first + j * strip.step, strip.stride, strip.count, strip.step * parts, repeats});
  }
}

void TileSweep::add_aligned(const Strip& strip) {
  const int64_t cols = shape_.cols, stride = strip.stride, step = strip.step / cols;
  if (cols % stride == 0 || strip.inner_span() < cols) return add_progression(strip.first, stride, strip.count, step, strip.repeats);
  const int64_t parts = std::lcm(stride, cols) / stride;
  for (int64_t i = 0; i < std::min(parts, strip.count); ++i) {
    const int64_t count = ceil_div(strip.count - i, parts), between = stride * parts / cols;
    const int64_t tile = (strip.first + i * stride) / cols;
    if (strip.repeats == 1) {
      add_entry(tile, between, count, 1);
    } else {
      for (int64_t c = 0; c < count; ++c) add_entry(tile + c * between, step, strip.repeats, 1);
    }
  }
}

/// A progression that gives every tile strictly between its first and last the same number of pairs: cols / stride.
void TileSweep::add_progression(int64_t first, int64_t stride, int64_t count, int64_t step, int64_t repeats) {
  const int64_t last = first + (count - 1) * stride;
  const int64_t from = first / shape_.cols, to = last / shape_.cols;
  if (from == to) return add_tiles(from, 1, count, step, repeats);
  const int64_t head = ((from + 1) * shape_.cols - 1 - first) / stride + 1;
  const int64_t middle = (to - from - 1) * (shape_.cols / stride);
  add_tiles(from, 1, head, step, repeats);
  if (middle > 0) add_tiles(from + 1, to - from - 1, shape_.cols / stride, step, repeats);
  add_tiles(to, 1, count - head - middle, step, repeats);
}

void TileSweep::add_tiles(int64_t first, int64_t tiles, int64_t amount, int64_t step, int64_t repeats) {
  if (repeats == 1) return add_entry(first, 1, tiles, amount);
  if (tiles <= repeats) {
    for (int64_t i = 0; i < tiles; ++i) add_entry(first + i, step, repeats, amount);
  } else {
    for (int64_t j = 0; j < repeats; ++j) add_entry(first + j * step, 1, tiles, amount);
  }
}

void TileSweep::add_entry(int64_t first, int64_t step, int64_t count, int64_t amount) {
  ++work_;
  if (count == 1) step = 1;
  int32_t& recent = recent_[slot_of(first, step, count)];
  if (recent >= 0) {
    Entry& entry = entries_[recent];
    if (entry.first == first && entry.step == step && entry.count == count) {
      entry.amount += amount;
      return;
    }
  }
  recent = static_cast<int32_t>(entries_.size());
  entries_.push_back({first, step, count, amount});
}

int64_t TileSweep::period() const {
  int64_t period = 1;
  for (const Entry& entry : entries_) {
    period = std::lcm(period, entry.step);
    if (period > kLongestPeriod) return 0;
  }
  return period;
}

void TileSweep::clip_entries(int64_t from) {
  std::erase_if(entries_, [from](Entry& entry) {
    if (entry.first >= from) return false;
    const int64_t skipped = ceil_div(from - entry.first, entry.step);
    entry.first += skipped * entry.step;
    entry.count -= skipped;
    return entry.count <= 0;
  });
}

void TileSweep::finish_block(int64_t row) {
  const int64_t rows = row % shape_.rows + 1;
  const int64_t from = rows < shape_.rows ? 0 : first_tile_;
  if (from < key_tiles_) {
    if (from > 0) clip_entries(from);
    const int64_t length = has_dense_ ? 0 : period();
    if (length == 0) {
      finish_dense(rows, from);
    } else {
      residues_.assign(length, 0);
      make_events();
      int64_t base = 0, at = from;
      for (const Event& event : events_) {
        if (event.tile > at) count_segment(at, event.tile, base, rows), at = event.tile;
        apply(event, base);
      }
      count_segment(at, key_tiles_, base, rows);
    }
  }
  entries_.clear();
  recent_.fill(-1);
}

void TileSweep::make_events() {
  events_.clear();
  work_ += 8 * static_cast<int64_t>(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    events_.push_back({entry.first, static_cast<int32_t>(i), true});
    events_.push_back({entry.first + (entry.count - 1) * entry.step + 1, static_cast<int32_t>(i), false});
  }
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.tile < b.tile; });
}

void TileSweep::apply(const Event& event, int64_t& base) {
  const Entry& entry = entries_[event.entry];
  const int64_t change = event.start ? entry.amount : -entry.amount;
  if (entry.step == 1) {
    base += change;
    return;
  }
  const auto length = static_cast<int64_t>(residues_.size());
  work_ += length / entry.step;
  for (int64_t r = entry.first % entry.step; r < length; r += entry.step) residues_[r] += change;
}

void TileSweep::count_segment(int64_t from, int64_t to, int64_t base, int64_t rows) {
  const int64_t whole = lengths_.sk / shape_.cols, length = static_cast<int64_t>(residues_.size());
  if (from >= to) return;
  if (from < whole && to > whole) {
    count_segment(from, whole, base, rows);
    return count_segment(whole, to, base, rows);
  }
  const int64_t area = rows * (from < whole ? shape_.cols : lengths_.sk % shape_.cols);
  if (length == 1) return counts_.add(base, area, to - from);
  work_ += std::min(to - from, length);
  for (int64_t tile = from; tile < std::min(to, from + length); ++tile) {
    counts_.add(base + residues_[tile % length], area, (to - tile - 1) / length + 1);
  }
}

void TileSweep::finish_dense(int64_t rows, int64_t first_tile) {
  if (!has_dense_) dense_.assign(static_cast<size_t>(key_tiles_), 0);
  has_dense_ = false;
  work_ += key_tiles_ / kTilesOfAStep;
  for (const Entry& entry : entries_) {
    work_ += entry.count;
    for (int64_t i = 0; i < entry.count; ++i) dense_[static_cast<size_t>(entry.first + i * entry.step)] += entry.amount;
  }
  const int64_t whole = lengths_.sk / shape_.cols;
  const auto class_of = [&](int64_t first, int64_t end, int64_t area) {
    const auto from = dense_.begin() + first, to = dense_.begin() + end;
    const auto empty = std::count(from, to, 0), full = std::count(from, to, area);
    counts_.add(0, area, empty);
    counts_.add(area, area, full);
    if (area > 1) counts_.add(1, area, end - first - empty - full);
  };
  if (first_tile < whole) class_of(first_tile, whole, rows * shape_.cols);
  class_of(std::max(first_tile, whole), key_tiles_, rows * (lengths_.sk % shape_.cols));
}

void add_whole_tiles(TileStrips partial, TileStrips full, int64_t whole_tiles, int64_t area, TileCounts& counts) {
  const auto below = [whole_tiles](TileStrips tiles) {
    int64_t all = 0;
    for (int i = 0; i < tiles.n; ++i) all += count_below(tiles.strips[i], whole_tiles);
    return all;
  };
  const int64_t partials = below(partial), fulls = below(full);
  counts.partial += partials, counts.partial_pairs += partials * area;
  counts.full += fulls, counts.full_pairs += fulls * area;
  counts.empty += whole_tiles - partials - fulls;
}

}  // namespace heddle::analysis
