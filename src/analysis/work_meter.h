// Bounds a count by the steps that it takes, not by time: whether it ends does not depend on the machine or its load.
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

namespace heddle::analysis {

/// Thrown where a count takes more steps than it may.
struct OverWork {};

/// Shared by the threads of one count. A step is about a nanosecond: an operation in one lane, or a piece of a row.
class WorkMeter {
 public:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  explicit WorkMeter(int64_t limit = kNoLimit) : limit_(limit) {}
  /// Throws OverWork once the sum of all steps passes the limit; whether it ever does depends on the steps alone.
  void add(int64_t steps) {
    if (done_.fetch_add(steps, std::memory_order_relaxed) > limit_ - steps) throw OverWork{};
  }
  int64_t done() const { return done_.load(std::memory_order_relaxed); }

 private:
  const int64_t limit_;
  std::atomic<int64_t> done_ = 0;
};

/// Gathers the steps of one thread. flush() belongs at the end of each unit of work.
class WorkTally {
 public:
  explicit WorkTally(WorkMeter& meter) : meter_(&meter) {}
  void add(int64_t steps) {
    if ((pending_ += steps) >= kWorthTelling) flush();
  }
  void flush() { meter_->add(std::exchange(pending_, 0)); }

 private:
  static constexpr int64_t kWorthTelling = 1 << 15;
  WorkMeter* meter_;
  int64_t pending_ = 0;
};

}  // namespace heddle::analysis
