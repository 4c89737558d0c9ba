#include "test/emulator/access_cost.h"
#include <algorithm>
#include <array>

namespace heddle::emulator {

namespace {

constexpr int kBanks = 32, kWordBytes = 4, kPassBytes = 128, kSectorBytes = 32;

/// A small set of numbers, sorted and made unique at the end.
template <size_t Capacity>
class NumberSet {
 public:
  void add(uint64_t number) { numbers_[count_++] = number; }
  int distinct() {
    std::sort(numbers_.begin(), numbers_.begin() + count_);
    return static_cast<int>(std::unique(numbers_.begin(), numbers_.begin() + count_) - numbers_.begin());
  }
  uint64_t operator[](size_t index) const { return numbers_[index]; }

 private:
  std::array<uint64_t, Capacity> numbers_;
  size_t count_ = 0;
};

/// Most distinct words that one bank must deliver.
int passes_of(NumberSet<kBanks * 2>& words) {
  std::array<int, kBanks> load{};
  const int distinct = words.distinct();
  for (int i = 0; i < distinct; ++i) ++load[words[i] % kBanks];
  return *std::max_element(load.begin(), load.end());
}

}  // namespace

Cost bank_passes(const uint64_t* addresses, uint32_t mask, int bytes) {
  const int lanes = std::min(kWarp, kPassBytes / bytes);
  Cost cost;
  for (int first = 0; first < kWarp; first += lanes) {
    NumberSet<kBanks * 2> words;
    bool any = false;
    for (int lane = first; lane < first + lanes; ++lane) {
      if (!(mask >> lane & 1)) continue;
      any = true;
      for (uint64_t word = addresses[lane] / kWordBytes; word <= (addresses[lane] + bytes - 1) / kWordBytes; ++word) words.add(word);
    }
    if (any) cost += {passes_of(words), 1};
  }
  return cost;
}

Cost matrix_passes(const uint64_t* rows) {
  NumberSet<kBanks * 2> words;
  for (int row = 0; row < 8; ++row) {
    for (int word = 0; word < 4; ++word) words.add(rows[row] / kWordBytes + word);
  }
  return {passes_of(words), 1};
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
