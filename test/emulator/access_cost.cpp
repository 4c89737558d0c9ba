#include "test/emulator/access_cost.h"

#include <algorithm>
#include <array>

namespace heddle::emulator {

namespace {

constexpr int kBanks = 32, kWordBytes = 4, kPassBytes = 128, kSectorBytes = 32;

/// A small set of numbers; cheap when they come in ascending order, as those of coalesced accesses do.
template <size_t Capacity>
class NumberSet {
 public:
  void add(uint64_t number) {
    if (count_ > 0 && numbers_[count_ - 1] == number) return;
    ascending_ = ascending_ && (count_ == 0 || numbers_[count_ - 1] < number);
    numbers_[count_++] = number;
  }
  int distinct() {
    if (ascending_) return static_cast<int>(count_);
    std::sort(numbers_.begin(), numbers_.begin() + count_);
    return static_cast<int>(std::unique(numbers_.begin(), numbers_.begin() + count_) - numbers_.begin());
  }

 private:
  std::array<uint64_t, Capacity> numbers_;
  size_t count_ = 0;
  bool ascending_ = true;
};

/// The distinct words that each bank must deliver in one group of lanes.
class Banks {
 public:
  void add(uint64_t word) {
    const size_t bank = word % kBanks;
    for (int i = 0; i < loads_[bank]; ++i) {
      if (words_[bank][i] == word) return;
    }
    words_[bank][loads_[bank]++] = word;
    passes_ = std::max(passes_, loads_[bank]);
  }
  int passes() const { return passes_; }

 private:
  int loads_[kBanks] = {};
  uint64_t words_[kBanks][kWarp];
  int passes_ = 0;
};

}  // namespace

Cost bank_passes(const uint64_t* addresses, uint32_t mask, int bytes) {
  const int lanes = std::min(kWarp, kPassBytes / bytes);
  Cost cost;
  for (int first = 0; first < kWarp; first += lanes) {
    Banks banks;
    for (int lane = first; lane < first + lanes; ++lane) {
      if (!(mask >> lane & 1)) continue;
      for (uint64_t word = addresses[lane] / kWordBytes; word <= (addresses[lane] + bytes - 1) / kWordBytes; ++word)
        banks.add(word);
    }
    if (banks.passes() > 0) cost += {banks.passes(), 1};
  }
  return cost;
}

Cost matrix_passes(const uint64_t* rows) {
  Banks banks;
  for (int row = 0; row < 8; ++row) {
    for (int word = 0; word < 4; ++word) banks.add(rows[row] / kWordBytes + word);
  }
  return {banks.passes(), 1};
}

Cost sectors(const uint64_t* addresses, uint32_t mask, int bytes) {
  NumberSet<kWarp * 2> touched;
  NumberSet<kWarp> starts;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (!(mask >> lane & 1)) continue;
    starts.add(addresses[lane]);
    touched.add(addresses[lane] / kSectorBytes);
    touched.add((addresses[lane] + bytes - 1) / kSectorBytes);
  }
  return {touched.distinct(), (starts.distinct() * bytes + kSectorBytes - 1) / kSectorBytes};
}

}  // namespace heddle::emulator
