#include "src/analysis/bit_rows.h"

#include <bit>

namespace heddle::analysis {
namespace {

constexpr uint64_t kPrime = 0x100000001b3ULL;
constexpr uint64_t kPrimeTo8 = [] {
  uint64_t power = 1;
  for (int i = 0; i < 8; ++i) power *= kPrime;
  return power;
}();

/// Ones at positions [from, to) of a word, 0 <= from < to <= 64.
uint64_t ones(int64_t from, int64_t to) { return (~uint64_t{0} >> (64 - (to - from))) << from; }

/// Calls at(word, mask) for each word that [from, to) touches.
template <typename At>
void each_word(int64_t from, int64_t to, const At& at) {
  while (from < to) {
    const int64_t end = std::min(to, (from / 64 + 1) * 64);
    at(from / 64, ones(from % 64, end - from / 64 * 64));
    from = end;
  }
}

}  // namespace

void Fnv1a64::add(const uint64_t* words, int64_t bytes) {
  for (int64_t w = 0; w * 8 < bytes; ++w) {
    const int64_t here = std::min<int64_t>(8, bytes - w * 8);
    if (words[w] == 0 && here == 8) {
      hash_ *= kPrimeTo8;
      continue;
    }
    for (int64_t i = 0; i < here; ++i) hash_ = (hash_ ^ ((words[w] >> (8 * i)) & 0xff)) * kPrime;
  }
}

void set_bits(const Strip& strip, uint64_t* words) {
  each_progression(strip, [words](int64_t first, int64_t stride, int64_t count) {
    if (stride == 1) return each_word(first, first + count, [words](int64_t word, uint64_t mask) { words[word] |= mask; });
    for (int64_t i = 0; i < count; ++i) words[(first + i * stride) / 64] |= uint64_t{1} << ((first + i * stride) % 64);
  });
}

int64_t count_bits(const uint64_t* words, int64_t from, int64_t to) {
  int64_t total = 0;
  each_word(from, to, [&](int64_t word, uint64_t mask) { total += std::popcount(words[word] & mask); });
  return total;
}

int64_t count_runs(const uint64_t* words, int64_t n) {
  int64_t runs = 0;
  uint64_t before = 0;
  for (int64_t w = 0; w < n; ++w) {
    runs += std::popcount(words[w] & ~(words[w] << 1 | before));
    before = words[w] >> 63;
  }
  return runs;
}

}  // namespace heddle::analysis
