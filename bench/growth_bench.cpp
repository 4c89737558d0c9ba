// How the time of a fixed window grows with the length: lengths of 1024 to 65,536 in turn in one run.
//
// `exponent`: slope of the line of least squares through log(best time) over log(length); `exponent_median` through medians.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/operands.h"
#include "bench/turns.h"

namespace {

constexpr int64_t kLongest = 65536;
constexpr double kSeconds = 3;

struct Length {
  int64_t length;
  std::vector<double> times{};
};

/// Of log(time) over log(length).
template <class TimeOf>
double slope(const std::vector<Length>& lengths, const TimeOf& time_of) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const Length& one : lengths) {
    const double a = std::log(static_cast<double>(one.length)), b = std::log(time_of(one.times));
    x += a, y += b, xx += a * a, xy += a * b;
  }
  const double n = static_cast<double>(lengths.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

/// Seconds of a launch over the first rows of operands of the longest length. Every sample has as many rows in all, so that
/// other work on the machine weighs on all lengths alike.
double launch(const heddle::Attention& attention, bench::Operands& operands, int64_t length) {
  const std::vector<int64_t> shape = {1, operands.dims[1], length, operands.dims[3]};
  const auto view = [&](std::vector<float>& data) { return heddle::Tensor::dense(data.data(), shape); };
  const heddle::Tensor q = view(operands.q), k = view(operands.k), v = view(operands.v), o = view(operands.o);
  const int64_t launches = kLongest / length;
  const double all = bench::seconds([&] {
    for (int64_t i = 0; i < launches; ++i) attention.run(q, k, v, o);
  });
  return all / static_cast<double>(launches);
}

void fixed_window(benchmark::State& state, int threads) {
  heddle::Engine engine(bench::engine_options(threads));
  const heddle::Attention attention = engine.attention(bench::spec_of("k <= q && q - k < 256", 64));
  bench::Operands operands({1, kLongest, 64});
  std::vector<Length> lengths;
  for (int64_t length = 1024; length <= kLongest; length *= 2) lengths.push_back({length});
  launch(attention, operands, kLongest);
  for (auto _ : state) {
    state.SetIterationTime(bench::seconds([&] {
      for (Length& one : lengths) one.times.push_back(launch(attention, operands, one.length));
    }));
  }
  state.counters["exponent"] = slope(lengths, [](const auto& times) { return *std::min_element(times.begin(), times.end()); });
  state.counters["exponent_median"] = slope(lengths, [](const auto& times) { return bench::median_of(times); });
}

}  // namespace

int main(int count, char** arguments) {
  for (const int threads : bench::thread_counts()) {
    bench::add(
        "growth/window256/D:64/threads:" + std::to_string(threads),
        [=](benchmark::State& state) { fixed_window(state, threads); }, kSeconds);
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
