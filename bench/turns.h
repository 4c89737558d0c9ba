// Times two works that take turns in one process, so that what else the machine does weighs on both.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace bench {

template <class Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Other work on the machine only ever slows a sample down: the best time of each work is what it takes, and the ratio of both
/// bests is the figure. A short sample finds a quiet moment sooner than a long one, so the shorter work is repeated until its
/// samples are about as long. The median of the ratios of neighbouring samples stands beside the figure; both agree on a quiet
/// machine.
class Turns {
 public:
  /// The benchmark's own time is that of the samples of the first work.
  void measure(benchmark::State& state, const std::function<void()>& first, const std::function<void()>& second) {
    first();
    second();
    const double one = seconds(first), other = seconds(second);
    const int firsts = calls(one, other), others = calls(other, one);
    for (auto _ : state) {
      firsts_.push_back(sample(first, firsts));
      state.SetIterationTime(firsts_.back() * firsts);
      seconds_.push_back(sample(second, others));
      ratios_.push_back(seconds_.back() / firsts_.back());
      differences_.push_back(firsts_.back() - seconds_.back());
    }
  }
  double first() const { return *std::min_element(firsts_.begin(), firsts_.end()); }
  double second() const { return *std::min_element(seconds_.begin(), seconds_.end()); }
  /// Time of the second over time of the first.
  double best() const { return second() / first(); }
  double median() const { return median_of(ratios_); }
  /// Median of what the first takes longer than the second.
  double median_difference() const { return median_of(differences_); }
  /// Counts `name` and `name_median`, best() and median() times `factor`, and both best times in seconds, so that who repeats
  /// the benchmark can take the best of all repetitions.
  void count(benchmark::State& state, const std::string& name, double factor = 1) const {
    state.counters["first_s"] = first();
    state.counters["second_s"] = second();
    state.counters[name] = best() * factor;
    state.counters[name + "_median"] = median() * factor;
  }

 private:
  static int calls(double own, double other) { return std::max(1, static_cast<int>(std::lround(other / own))); }
  /// Seconds of a call.
  static double sample(const std::function<void()>& work, int calls) {
    return seconds([&] {
             for (int i = 0; i < calls; ++i) work();
           }) /
           calls;
  }

  std::vector<double> firsts_, seconds_, ratios_, differences_;
};

/// A benchmark of at least `least_seconds` whose body times itself.
inline void add(const std::string& name, const std::function<void(benchmark::State&)>& run, double least_seconds = 2) {
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMillisecond)->MinTime(least_seconds);
}

}  // namespace bench
