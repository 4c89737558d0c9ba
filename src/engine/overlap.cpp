#include "src/engine/overlap.h"
#include <algorithm>
#include <array>
#include <cstdlib>

namespace heddle::engine {

namespace {

using Wide = __int128;  ///< Sums of byte offsets leave 64 bits at the rim.

/// stride * n for n in [low, high]; stride > 0.
struct Term {
  Wide stride = 0, low = 0, high = 0;
};

/// Does base + (a sum of terms) lie in [low, high] for some choice of the terms' indices?
class Meeting {
 public:
  void add(Wide stride, Wide low, Wide high) {
    if (stride == 0 || low == high) {
      base_ += stride * low;
    } else if (stride < 0) {
      terms_[count_++] = {-stride, -high, -low};
    } else {
      terms_[count_++] = {stride, low, high};
    }
  }
  void move(Wide offset) { base_ += offset; }

  bool possible(Wide low, Wide high) {
    std::sort(terms_.begin(), terms_.begin() + count_, [](const Term& a, const Term& b) { return a.stride > b.stride; });
    merge_equal_strides();
    for (int i = count_; i-- > 0;) {
      least_[i] = least_[i + 1] + terms_[i].stride * terms_[i].low;
      most_[i] = most_[i + 1] + terms_[i].stride * terms_[i].high;
    }
    return search(0, low - base_, high - base_);
  }

 private:
  /// Two independent indices of one stride are one index whose range is the sum of theirs.
  void merge_equal_strides() {
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      if (kept > 0 && terms_[kept - 1].stride == terms_[i].stride) {
        terms_[kept - 1].low += terms_[i].low;
        terms_[kept - 1].high += terms_[i].high;
      } else {
        terms_[kept++] = terms_[i];
      }
    }
    count_ = kept;
  }

  static Wide floor_div(Wide a, Wide b) { return a / b - (a % b < 0); }

  /// Terms from `i` on against [low, high]. Out of steps means yes.
  bool search(int i, Wide low, Wide high) {
    if (high < least_[i] || low > most_[i]) return false;
    if (i == count_ || ++steps_ > kOverlapSteps) return true;
    const Term& term = terms_[i];
    const Wide first = std::max(term.low, -floor_div(most_[i + 1] - low, term.stride));
    const Wide last = std::min(term.high, floor_div(high - least_[i + 1], term.stride));
    for (Wide n = first; n <= last; ++n) {
      if (search(i + 1, low - n * term.stride, high - n * term.stride)) return true;
    }
    return false;
  }

  static constexpr int kMaxTerms = 8;
  std::array<Term, kMaxTerms> terms_;
  std::array<Wide, kMaxTerms + 1> least_{}, most_{};
  int count_ = 0, steps_ = 0;
  Wide base_ = 0;
};

Wide element_bytes(const Tensor& view) { return size_of(view.dtype); }

bool empty(const Tensor& view) { return std::ranges::find(view.shape, 0) != view.shape.end(); }

}  // namespace

bool share_memory(const Tensor& a, const Tensor& b) {
  if (empty(a) || empty(b)) return false;
  Meeting meeting;
  meeting.move(static_cast<Wide>(reinterpret_cast<uintptr_t>(a.data)) - static_cast<Wide>(reinterpret_cast<uintptr_t>(b.data)));
  for (size_t i = 0; i < a.shape.size(); ++i) meeting.add(element_bytes(a) * a.strides[i], 0, a.shape[i] - 1);
  for (size_t i = 0; i < b.shape.size(); ++i) meeting.add(-element_bytes(b) * b.strides[i], 0, b.shape[i] - 1);
  return meeting.possible(1 - element_bytes(a), element_bytes(b) - 1);
}

bool overlaps_itself(const Tensor& view) {
  if (empty(view)) return false;
  // Two tuples differ first in dimension `first`, where one may be taken to be larger.
  for (size_t first = 0; first < view.shape.size(); ++first) {
    if (view.shape[first] == 1) continue;
    Meeting meeting;
    meeting.add(element_bytes(view) * view.strides[first], 1, view.shape[first] - 1);
    for (size_t i = first + 1; i < view.shape.size(); ++i) {
      meeting.add(element_bytes(view) * view.strides[i], 1 - view.shape[i], view.shape[i] - 1);
    }
    if (meeting.possible(1 - element_bytes(view), element_bytes(view) - 1)) return true;
  }
  return false;
}

}  // namespace heddle::engine
