// A row of a mask as bits, least significant first, and the checksum of a bit matrix.
#pragma once
#include <cstdint>
#include <vector>
#include "src/analysis/strip.h"

namespace heddle::analysis {

/// FNV-1a, 64 bits, over bytes in order; runs of zero bytes cost O(1) a word.
class Fnv1a64 {
 public:
  /// The first `bytes` bytes of little-endian words.
  void add(const uint64_t* words, int64_t bytes);
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

inline int64_t words_for(int64_t bits) { return (bits + 63) / 64; }
inline int64_t bytes_for(int64_t bits) { return (bits + 7) / 8; }

/// Sets the bits of a strip.
void set_bits(const Strip& strip, uint64_t* words);
/// Set bits in [from, to).
int64_t count_bits(const uint64_t* words, int64_t from, int64_t to);
/// Maximal runs of set bits in the first n words.
int64_t count_runs(const uint64_t* words, int64_t n);
/// Calls visit(position) for each set bit, ascending.
template <typename Visit>
void each_bit(const uint64_t* words, int64_t n, const Visit& visit) {
  for (int64_t w = 0; w < n; ++w) {
    for (uint64_t rest = words[w]; rest != 0; rest &= rest - 1) visit(w * 64 + __builtin_ctzll(rest));
  }
}

}  // namespace heddle::analysis
