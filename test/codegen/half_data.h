// A launch on operands of 16 bits beside its twin: the same values in the same places as float32.
#pragma once
#include <cstdint>

#include "src/support/half.h"
#include "test/codegen/launch_data.h"

namespace heddle::test {

/// Rounds the inputs of `twin` to `dtype` and holds copies of that type; both have guarded memory of their own.
class HalfData {
 public:
  HalfData(LaunchData& twin, DType dtype)
      : twin_(twin), dtype_(dtype), q_(twin.q, twin.launch().rim), k_(twin.k, twin.launch().rim), v_(twin.v, twin.launch().rim),
        o_(twin.o, twin.launch().rim) {
    for (Copy* copy : {&q_, &k_, &v_, &o_}) copy->round(dtype);
    args = twin.args;
    args.q = q_.base(), args.k = k_.base(), args.v = v_.base(), args.o = o_.base();
  }

  /// O as stored; places that nothing was stored to hold what they held.
  uint16_t stored(int64_t b, int64_t h, int64_t q, int64_t d) const {
    return o_.bits[static_cast<size_t>(twin_.o.row(b, h, q) + d - twin_.o.array().data())];
  }
  float value(uint16_t bits) const { return support::element(dtype_, &bits, 0); }
  uint16_t rounded(float value) const {
    uint16_t bits = 0;
    support::set_element(dtype_, &bits, 0, value);
    return bits;
  }
  bool gaps_untouched() const {
    const uint16_t untouched = rounded(LaunchData::kUntouched);
    std::vector<bool> stored(o_.bits.size());
    twin_.each_row([&](int64_t b, int64_t h, int64_t q) {
      std::fill_n(stored.begin() + (twin_.o.row(b, h, q) - twin_.o.array().data()), twin_.launch().value_dim, true);
    });
    for (size_t i = 0; i < stored.size(); ++i) {
      if (!stored[i] && o_.bits[i] != untouched) return false;
    }
    return true;
  }

  AttentionArgs args;  ///< LSE goes to the twin's.

 private:
  struct Copy {
    Copy(View& view, Rim rim) : from(view), bits(view.array().size(), rim) {}
    void round(DType dtype) {
      for (size_t i = 0; i < bits.size(); ++i) {
        support::set_element(dtype, bits.data(), static_cast<int64_t>(i), from.array()[i]);
        from.array()[i] = support::element(dtype, bits.data(), static_cast<int64_t>(i));
      }
    }
    uint16_t* base() { return bits.data() + (from.base() - from.array().data()); }
    View& from;
    GuardedArray<uint16_t> bits;
  };

  LaunchData& twin_;
  DType dtype_;
  Copy q_, k_, v_, o_;
};

}  // namespace heddle::test
