#include "src/analysis/matrix_bits.h"

#include <cstring>

#include "src/analysis/parallel.h"

namespace heddle::analysis {
namespace {

constexpr int64_t kUnitRows = 64;

/// Eight bytes to eight bits. The high bit of each byte that is not 0 is found without carries between bytes; one product then moves bit
/// 8 i to bit 56 + i.
uint64_t pack_eight(const uint8_t* bytes) {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7fULL;
  uint64_t value;
  std::memcpy(&value, bytes, sizeof(value));
  const uint64_t high = (((value & kLow) + kLow) | value) >> 7 & 0x0101010101010101ULL;
  return high * 0x0102040810204080ULL >> 56;
}

uint64_t pack_word(const uint8_t* bytes) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= pack_eight(bytes + 8 * i) << (8 * i);
  return word;
}

void pack_row(const uint8_t* bytes, int64_t sk, uint64_t* words) {
  const int64_t whole = sk / 64;
  for (int64_t w = 0; w < whole; ++w) words[w] = pack_word(bytes + 64 * w);
  for (int64_t k = whole * 64; k < sk; ++k) words[whole] |= static_cast<uint64_t>(bytes[k] != 0) << (k % 64);
}

/// Rows [first, last), key by key: neighbours in memory may be rows.
void pack_apart(const MatrixView& view, int64_t first, int64_t last, BitMatrix& matrix) {
  for (int64_t k = 0; k < view.sk; ++k) {
    const uint8_t* column = view.data + k * view.key_stride;
    for (int64_t q = first; q < last; ++q) matrix.row(q)[k / 64] |= static_cast<uint64_t>(column[q * view.row_stride] != 0) << (k % 64);
  }
}

}  // namespace

BitMatrix::BitMatrix(int64_t rows, int64_t keys)
    : sq(rows), sk(keys), words(words_for(keys)), bits(static_cast<size_t>(rows * words_for(keys)), 0) {}

BitMatrix pack(const MatrixView& view, int threads) {
  BitMatrix matrix(view.sq, view.sk);
  parallel_units(threads, (view.sq + kUnitRows - 1) / kUnitRows, [&](int, int64_t unit) {
    const int64_t first = unit * kUnitRows, last = std::min(view.sq, first + kUnitRows);
    if (view.key_stride != 1) return pack_apart(view, first, last, matrix);
    for (int64_t q = first; q < last; ++q) {
      pack_row(view.data + q * view.row_stride, view.sk, matrix.row(q));
    }
  });
  return matrix;
}

}  // namespace heddle::analysis
