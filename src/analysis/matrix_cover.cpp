#include "src/analysis/matrix_cover.h"

#include <algorithm>

namespace heddle::analysis {
namespace {

uint64_t window(const std::vector<uint64_t>& words, int64_t at) {
  const size_t word = static_cast<size_t>(at / 64);
  const int shift = static_cast<int>(at % 64);
  return words[word] >> shift | words[word + 1] << 1 << (63 - shift);
}

void or_window(std::vector<uint64_t>& words, int64_t at, uint64_t bits) {
  const size_t word = static_cast<size_t>(at / 64);
  const int shift = static_cast<int>(at % 64);
  words[word] |= bits << shift;
  words[word + 1] |= bits >> 1 >> (63 - shift);
}

void and_window(std::vector<uint64_t>& words, int64_t at, uint64_t bits) {
  const size_t word = static_cast<size_t>(at / 64);
  const int shift = static_cast<int>(at % 64);
  words[word] &= ~(~bits << shift);
  words[word + 1] &= ~(~bits >> 1 >> (63 - shift));
}

/// Sets bits [from, to) of a row.
void fill(std::vector<uint64_t>& row, int64_t from, int64_t to) {
  if (from < to) set_bits({.first = from, .count = to - from}, row.data());
}

}  // namespace

LineCover::LineCover(const BitMatrix& matrix, Region region, int64_t block) : matrix_(matrix), region_(region), block_(block) {}

uint64_t LineCover::region_bits(int64_t q, int64_t w) const {
  const uint64_t inside = matrix_.inside(w);
  if (!region_.causal) return inside;
  const int64_t columns = q + *region_.causal + 1 - w * 64;  // Of the region, from the start of the word.
  if (columns <= 0) return 0;
  return columns >= 64 ? inside : inside & ((uint64_t{1} << columns) - 1);
}

LineFlags LineCover::none() const {
  LineFlags flags;
  flags.rows.assign(static_cast<size_t>(matrix_.sq), 0);
  flags.columns.assign(static_cast<size_t>(matrix_.words), 0);
  flags.diagonals.assign(static_cast<size_t>(words_for(matrix_.sq + matrix_.words * 64) + 2), 0);
  if (block_ > 0) flags.blocks.assign(static_cast<size_t>((matrix_.sq + block_ - 1) / block_ + key_blocks() - 1), 0);
  return flags;
}

LineFlags LineCover::whole() const {
  LineFlags flags = none();
  std::fill(flags.rows.begin(), flags.rows.end(), 1);
  for (auto* words : {&flags.columns, &flags.diagonals}) std::fill(words->begin(), words->end(), ~uint64_t{0});
  std::fill(flags.blocks.begin(), flags.blocks.end(), 1);
  for (int64_t q = 0; q < matrix_.sq; ++q) {
    const uint64_t* row = matrix_.row(q);
    for (int64_t w = 0; w < matrix_.words; ++w) {
      const uint64_t missing = region_bits(q, w) & ~row[w];
      if (missing == 0) continue;
      flags.rows[static_cast<size_t>(q)] = 0;
      flags.columns[static_cast<size_t>(w)] &= ~missing;
      and_window(flags.diagonals, w * 64 - q + matrix_.sq - 1, ~missing);
      if (block_ == 0) continue;
      for (uint64_t rest = missing; rest != 0;) {
        const int64_t key_block = (w * 64 + __builtin_ctzll(rest)) / block_;
        flags.blocks[static_cast<size_t>(q / block_ - key_block + key_blocks() - 1)] = 0;
        const int64_t past = (key_block + 1) * block_ - w * 64;
        rest = past >= 64 ? 0 : rest >> past << past;
      }
    }
  }
  return flags;
}

void LineCover::cover_row(const LineFlags& chosen, unsigned used, int64_t q, std::vector<uint64_t>& row) const {
  if ((used & kRows) && chosen.rows[static_cast<size_t>(q)]) {
    std::fill(row.begin(), row.end(), ~uint64_t{0});
    return;
  }
  for (int64_t w = 0; w < matrix_.words; ++w) {
    uint64_t bits = used & kColumns ? chosen.columns[static_cast<size_t>(w)] : 0;
    if (used & kDiagonals) bits |= window(chosen.diagonals, w * 64 - q + matrix_.sq - 1);
    row[static_cast<size_t>(w)] = bits;
  }
  if (!(used & kBlocks)) return;
  for (int64_t b = 0; b < key_blocks(); ++b) {
    if (chosen.blocks[static_cast<size_t>(q / block_ - b + key_blocks() - 1)]) fill(row, b * block_, std::min((b + 1) * block_, matrix_.sk));
  }
}

void LineCover::mark(LineKind kind, int64_t q, const std::vector<uint64_t>& bits, LineFlags& flags) const {
  for (int64_t w = 0; w < matrix_.words; ++w) {
    const uint64_t here = bits[static_cast<size_t>(w)];
    if (here == 0) continue;
    if (kind == kRows) flags.rows[static_cast<size_t>(q)] = 1;
    if (kind == kColumns) flags.columns[static_cast<size_t>(w)] |= here;
    if (kind == kDiagonals) or_window(flags.diagonals, w * 64 - q + matrix_.sq - 1, here);
    if (kind != kBlocks) continue;
    for (uint64_t rest = here; rest != 0; rest &= rest - 1) {
      const int64_t key_block = (w * 64 + __builtin_ctzll(rest)) / block_;
      flags.blocks[static_cast<size_t>(q / block_ - key_block + key_blocks() - 1)] = 1;
    }
  }
}

LineFlags LineCover::needed(LineKind kind, const LineFlags& chosen, unsigned used) const {
  LineFlags flags = none();
  std::vector<uint64_t> row(static_cast<size_t>(matrix_.words));
  for (int64_t q = 0; q < matrix_.sq; ++q) {
    cover_row(chosen, used, q, row);
    for (int64_t w = 0; w < matrix_.words; ++w) row[static_cast<size_t>(w)] = matrix_.row(q)[w] & ~row[static_cast<size_t>(w)];
    mark(kind, q, row, flags);
  }
  return flags;
}

std::optional<std::pair<int64_t, int64_t>> LineCover::uncovered(const LineFlags& chosen, unsigned used) const {
  std::vector<uint64_t> row(static_cast<size_t>(matrix_.words));
  for (int64_t q = 0; q < matrix_.sq; ++q) {
    cover_row(chosen, used, q, row);
    for (int64_t w = 0; w < matrix_.words; ++w) {
      const uint64_t left = matrix_.row(q)[w] & ~row[static_cast<size_t>(w)];
      if (left != 0) return std::pair{q, w * 64 + __builtin_ctzll(left)};
    }
  }
  return std::nullopt;
}

bool LineCover::exact(const LineFlags& chosen, unsigned used) const {
  std::vector<uint64_t> row(static_cast<size_t>(matrix_.words));
  for (int64_t q = 0; q < matrix_.sq; ++q) {
    cover_row(chosen, used, q, row);
    for (int64_t w = 0; w < matrix_.words; ++w) {
      if ((row[static_cast<size_t>(w)] & region_bits(q, w)) != matrix_.row(q)[w]) return false;
    }
  }
  return true;
}

bool LineCover::covers(const LineFlags& chosen, unsigned used, int64_t q, int64_t k) const {
  const auto bit = [](const std::vector<uint64_t>& words, int64_t i) { return (words[static_cast<size_t>(i / 64)] >> (i % 64) & 1) != 0; };
  return ((used & kRows) && chosen.rows[static_cast<size_t>(q)]) || ((used & kColumns) && bit(chosen.columns, k)) ||
         ((used & kDiagonals) && bit(chosen.diagonals, k - q + matrix_.sq - 1)) ||
         ((used & kBlocks) && chosen.blocks[static_cast<size_t>(q / block_ - k / block_ + key_blocks() - 1)]);
}

}  // namespace heddle::analysis
