// Time from the start of a process to the first numbers of a formula, compiled anew (cold) and with its kernel on disk.
//
//   first_result [--json] [--samples N] [--filter TEXT]
//
// Every sample is a process of its own, this program with --child, that uses the public API only; its time is the wall time of its
// whole life. The files of the libraries are in the page cache. Parts, in ms and from the child's own clock: `process` is what is
// left beside them (exec, dynamic linking, exit).
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/bench_options.h"
#include "bench/child_process.h"
#include "heddle/engine.h"
#include "test/temporary_folder.h"

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kRows = 1024;  ///< Of the one head of the first launch.

struct Case {
  const char *name, *mask;
  double cold_bar = 200, disk_bar = 10;  ///< Milliseconds.
};

const Case kCases[] = {
    {"causal", "k <= q"},
    {"window256", "k <= q && q - k < 256"},
    {"longformer", "abs(q - k) <= 256 || k < 64 || q < 64"},
    {"natten2d", "abs(min(max(q / 64, 6), 57) - k / 64) <= 6 && abs(min(max(q % 64, 6), 57) - k % 64) <= 6"},
};

bool llvm_is_loaded() {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find("libLLVM") != std::string::npos;
}

/// The child: one small attention; prints where its kernel came from and its parts.
int first_result(const std::string& mask, int64_t head_dim, const std::string& cache) {
  const heddle::support::Timer whole;
  std::vector<float> q(static_cast<size_t>(kRows * head_dim), 0.1f), o(q.size());
  Json parts;
  heddle::support::Timer timer;
  heddle::Engine engine({.cache_dir = cache});
  parts["engine"] = timer.milliseconds();
  timer = {};
  const heddle::Attention attention = engine.attention({.mask = heddle::Mask::parse(mask), .head_dim = head_dim});
  double rest = timer.milliseconds();
  for (const auto& [name, milliseconds] : attention.report().passes) {
    parts[name] = milliseconds;
    rest -= milliseconds;
  }
  parts["load and link"] = rest;
  timer = {};
  const heddle::Tensor in = heddle::Tensor::dense(q.data(), {1, 1, kRows, head_dim});
  attention.run(in, in, in, heddle::Tensor::dense(o.data(), in.shape));
  parts["run"] = timer.milliseconds();
  const bool compiled = attention.report().origin == heddle::KernelReport::Origin::Compiled;
  if (!compiled && llvm_is_loaded()) throw std::runtime_error("LLVM is loaded though the kernel came from disk");
  fmt::print("{}\n", Json{{"compiled", compiled}, {"whole", whole.milliseconds()}, {"parts", parts}}.dump());
  return 0;
}

/// Samples of one way to a first result.
struct Samples {
  std::vector<double> whole, cpu;
  std::vector<std::pair<std::string, std::vector<double>>> parts;  ///< In the order of the child's report.

  void add(const std::string& name, double milliseconds) {
    const auto known = std::ranges::find(parts, name, [](const auto& part) { return part.first; });
    (known == parts.end() ? parts.emplace_back(name, std::vector<double>()) : *known).second.push_back(milliseconds);
  }
  /// One more child; throws when its kernel did not come from where it should.
  void sample(const std::vector<std::string>& arguments, bool compiled) {
    const bench::ChildResult child = bench::run_self(arguments);
    const Json report = Json::parse(child.output);
    if (report["compiled"] != compiled) throw std::runtime_error(compiled ? "the cache was not empty" : "the cache was not hit");
    whole.push_back(child.milliseconds);
    cpu.push_back(child.cpu_milliseconds);
    add("process", child.milliseconds - report["whole"].get<double>());
    for (const auto& [name, milliseconds] : report["parts"].items()) add(name, milliseconds);
  }
};

double best(const std::vector<double>& values) { return *std::ranges::min_element(values); }

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Json json_of(const std::string& name, double bar, const Samples& samples) {
  Json parts;
  for (const auto& [part, values] : samples.parts) parts[part] = median(values);
  return {{"name", name}, {"bar_ms", bar}, {"min_ms", best(samples.whole)}, {"median_ms", median(samples.whole)},
          {"cpu_ms", median(samples.cpu)}, {"samples", samples.whole.size()}, {"median_parts_ms", parts}};
}

void print(const Json& one) {
  const auto number = [&](const char* name) { return one[name].get<double>(); };
  fmt::print("{:<28} min {:7.2f} ms, median {:7.2f} ms, processor time {:6.2f} ms, of {} (bar {:.0f})\n   ",
             one["name"].get<std::string>(), number("min_ms"), number("median_ms"), number("cpu_ms"), one["samples"].get<int>(),
             number("bar_ms"));
  for (const auto& [name, milliseconds] : one["median_parts_ms"].items()) fmt::print(" {} {:.2f},", name, milliseconds.get<double>());
  fmt::print("\n");
  std::fflush(stdout);
}

/// Both ways, taken in turn, so that a busy moment of the machine weighs on both.
std::vector<Json> measure(const Case& one, int64_t head_dim, const bench::Options& options) {
  const heddle::test::TemporaryFolder cache;
  Samples cold, disk;
  const std::vector<std::string> arguments = {"--child", one.mask, std::to_string(head_dim), cache.path()};
  for (int i = 0; i < options.samples; ++i) {
    cache.clear();
    cold.sample(arguments, true);
    disk.sample(arguments, false);
  }
  const std::string name = fmt::format("{}/D:{}", one.name, head_dim);
  return {json_of(name + "/cold", one.cold_bar, cold), json_of(name + "/disk", one.disk_bar, disk)};
}

int measure_all(const bench::Options& options) {
  Json all = Json::array();
  for (const Case& one : kCases) {
    for (const int64_t head_dim : {64, 128}) {
      if (fmt::format("{}/D:{}", one.name, head_dim).find(options.filter) == std::string::npos) continue;
      for (const Json& result : measure(one, head_dim, options)) {
        if (!options.json) print(result);
        all.push_back(result);
      }
    }
  }
  if (options.json) fmt::print("{}\n", all.dump(2));
  return all.empty() ? 2 : 0;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 4 && arguments[0] == "--child") return first_result(arguments[1], std::stoll(arguments[2]), arguments[3]);
  return measure_all(bench::parse_options(arguments, 9));
}

}  // namespace

int main(int argc, char** argv) try {
  return run({argv + 1, argv + argc});
} catch (const std::exception& error) {
  fmt::print(stderr, "first_result: {}\n", error.what());
  return 1;
}
