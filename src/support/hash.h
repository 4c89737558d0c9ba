// A structural 64-bit hash that is the same in every process and on every machine: for interning and keys, not against attackers.
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>

namespace heddle::support {

/// Feeds values in order; equal sequences give equal hashes. Strings are FNV-1a (Fowler, Noll, Vo), integers pass the finaliser
/// of SplitMix64 (Steele, Lea, Flood 2014).
class Hasher {
 public:
  Hasher& add(uint64_t value) {
    uint64_t x = state_ ^ (value + 0x9E3779B97F4A7C15u + (state_ << 6) + (state_ >> 2));
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    state_ = x ^ (x >> 31);
    return *this;
  }
  Hasher& add(std::string_view text) {
    uint64_t x = 0xCBF29CE484222325u;
    for (const char c : text) x = (x ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return add(text.size()).add(x);
  }
  Hasher& add(double value) { return add(std::bit_cast<uint64_t>(value)); }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x243F6A8885A308D3u;
};

}  // namespace heddle::support
