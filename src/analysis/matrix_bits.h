// A boolean matrix as rows of bits, and the pass over a user's bytes that packs it.
#pragma once
#include <cstdint>
#include <vector>
#include "src/analysis/bit_rows.h"
#include "src/analysis/matrix_facts.h"

namespace heddle::analysis {

/// Rows of words_for(sk) words, least significant bit first; bits beyond sk are 0.
struct BitMatrix {
  BitMatrix(int64_t sq, int64_t sk);
  int64_t sq, sk, words;
  std::vector<uint64_t> bits;

  uint64_t* row(int64_t q) { return bits.data() + q * words; }
  const uint64_t* row(int64_t q) const { return bits.data() + q * words; }
  bool at(int64_t q, int64_t k) const { return row(q)[k / 64] >> (k % 64) & 1; }
  void set(int64_t q, int64_t k) { row(q)[k / 64] |= uint64_t{1} << (k % 64); }
  /// Ones for the columns of the matrix in word w.
  uint64_t inside(int64_t w) const { return w + 1 < words || sk % 64 == 0 ? ~uint64_t{0} : (uint64_t{1} << (sk % 64)) - 1; }
};

BitMatrix pack(const MatrixView& view, int threads);

/// 64 bits from position `at` on, which may be negative; zeros outside [0, 64 * words).
inline uint64_t bits_at(const uint64_t* row, int64_t words, int64_t at) {
  const int64_t word = at >> 6;
  const int shift = static_cast<int>(at & 63);
  const uint64_t low = word >= 0 && word < words ? row[word] : 0;
  if (shift == 0) return low;
  const uint64_t high = word >= -1 && word + 1 < words ? row[word + 1] : 0;
  return low >> shift | high << (64 - shift);
}

}  // namespace heddle::analysis
