#include "src/analysis/ranged_rows.h"

#include <algorithm>

#include "src/analysis/bit_rows.h"

namespace heddle::analysis {
namespace {

constexpr int64_t kMostKeys = 4096;  ///< Of bits held at once.
constexpr int64_t kRunSteps = 8;
constexpr int64_t kOperationsOfAStep = 3;  ///< Comparisons of neighbouring table elements, mostly.

/// Calls visit(first, end) for each run of set bits in n words, ascending.
template <typename Visit>
void each_run(const uint64_t* words, int64_t n, const Visit& visit) {
  int64_t first = -1;
  for (int64_t w = 0; w < n; ++w) {
    uint64_t edges = words[w] ^ (words[w] << 1 | static_cast<uint64_t>(first >= 0));
    for (; edges != 0; edges &= edges - 1) {
      const int64_t at = w * 64 + __builtin_ctzll(edges);
      if (first >= 0) visit(first, at);
      first = first >= 0 ? -1 : at;
    }
  }
  if (first >= 0) visit(first, n * 64);
}

}  // namespace

RangedRows::RangedRows(const ir::Expr& mask, const MaskInputs& inputs, const KnownRanges& known, WorkMeter& meter)
    : program_(mask, inputs), known_(known), tally_(meter) {}

void RangedRows::read(int64_t first, int n, RowBatch& out) {
  strips_.clear();
  open_.assign(static_cast<size_t>(n), -1);
  for (int at = 0; at < n;) {
    const int64_t row = first + at, end = (row / known_.rows + 1) * known_.rows;
    const int here = static_cast<int>(std::min<int64_t>(n - at, end - row));
    read_block(row, here, at);
    at += here;
  }
  tally_.flush();
  store_rows(strips_, first, n, out);
}

/// Rows first to first + n of one block, rows at to at + n of the batch.
void RangedRows::read_block(int64_t first, int n, int32_t at) {
  const auto block = static_cast<size_t>(first / known_.rows);
  for (int64_t i = known_.offsets[block]; i < known_.offsets[block + 1]; ++i) {
    const KeyRange& range = known_.ranges[static_cast<size_t>(i)];
    if (!range.all) {
      add_bits(first, n, at, range);
      continue;
    }
    for (int row = 0; row < n; ++row) add_run(at + row, range.first, range.end);
  }
}

void RangedRows::add_bits(int64_t first, int n, int32_t at, const KeyRange& range) {
  for (int64_t key = range.first; key < range.end; key += kMostKeys) {
    const int64_t end = std::min(range.end, key + kMostKeys), words = words_for(end - key);
    bits_.resize(static_cast<size_t>(words * n));
    program_.fill(first, n, key, end, bits_.data(), words);
    tally_.add(program_.take_work() / kOperationsOfAStep);
    for (int row = 0; row < n; ++row) {
      each_run(bits_.data() + row * words, words, [&](int64_t from, int64_t to) { add_run(at + row, key + from, key + to); });
    }
  }
}

void RangedRows::add_run(int32_t row, int64_t first, int64_t end) {
  tally_.add(kRunSteps);
  int32_t& open = open_[static_cast<size_t>(row)];
  if (open >= 0) {
    Strip& last = strips_[static_cast<size_t>(open)].strip;
    if (last.first + last.count == first) {
      last.count += end - first;
      return;
    }
  }
  open = static_cast<int32_t>(strips_.size());
  strips_.push_back({row, {first, 1, end - first, 0, 1}});
}

}  // namespace heddle::analysis
