// Peak memory of a causal window of 256 over 65,536 positions, beside its inputs and outputs.
//
//   memory [--json] [--samples N] [--filter TEXT]
//
// Every sample is a process of its own, this program with --child, on all cores. `launch`: how far the peak of resident memory during
// the launch lies above what was resident before it, the operands being there. `process`: peak of the whole process less the bytes of
// q, k, v and o, so with the program itself, its libraries' pages and, where the kernel is compiled (cold), the compiler;
// `file pages` are those of its files at the end, most of them shared with whoever else uses the same libraries.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/bench_options.h"
#include "bench/child_process.h"
#include "heddle/engine.h"
#include "test/temporary_folder.h"

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kRows = 65536, kDim = 64;
constexpr double kBar = 8;  ///< MiB.

/// A line of /proc/self/status, in MiB.
double status_mib(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / 1024;
  }
  throw std::runtime_error("/proc/self/status has no " + name);
}

/// Makes VmHWM the present resident size.
void restart_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << 5 << std::flush;
  if (!file) throw std::runtime_error("cannot write /proc/self/clear_refs");
}

/// The child: one launch; prints its peaks.
int measure_launch(int64_t heads, const std::string& cache) {
  std::vector<float> q(static_cast<size_t>(heads * kRows * kDim), 0.1f), k = q, v = q, o = q;
  heddle::Engine engine({.cache_dir = cache});
  const heddle::Mask window = heddle::Mask::parse("k <= q && q - k < 256");
  const heddle::Attention attention = engine.attention({.mask = window, .head_dim = kDim});
  const auto view = [&](std::vector<float>& data) { return heddle::Tensor::dense(data.data(), {1, heads, kRows, kDim}); };
  const double before_peak = status_mib("VmHWM");
  restart_peak();
  const double before = status_mib("VmRSS");
  attention.run(view(q), view(k), view(v), view(o));
  const double peak = status_mib("VmHWM");
  const double files = status_mib("RssFile");
  const double operands = 4.0 * static_cast<double>(q.size() * sizeof(float)) / (1 << 20);
  const bool compiled = attention.report().origin == heddle::KernelReport::Origin::Compiled;
  const double process = std::max(peak, before_peak) - operands;
  fmt::print("{}\n", Json{{"compiled", compiled}, {"launch", peak - before}, {"process", process}, {"files", files}}.dump());
  return 0;
}

Json measure(int64_t heads, bool compiled, const heddle::test::TemporaryFolder& cache, int samples) {
  std::vector<double> launch, process, files;
  for (int i = 0; i < samples; ++i) {
    if (compiled) cache.clear();
    const Json report = Json::parse(bench::run_self({"--child", std::to_string(heads), cache.path()}).output);
    if (report["compiled"] != compiled) throw std::runtime_error("the kernel came from the wrong place");
    launch.push_back(report["launch"].get<double>());
    process.push_back(report["process"].get<double>());
    files.push_back(report["files"].get<double>());
  }
  const std::string name = fmt::format("window256/S:{}/D:{}/H:{}/{}", kRows, kDim, heads, compiled ? "cold" : "disk");
  return {{"name", name},
          {"bar_mib", kBar},
          {"launch_mib", *std::ranges::max_element(launch)},
          {"process_mib", *std::ranges::max_element(process)},
          {"file_pages_mib", *std::ranges::max_element(files)},
          {"samples", samples}};
}

int measure_all(const bench::Options& options) {
  Json all = Json::array();
  const heddle::test::TemporaryFolder cache;
  for (const int64_t heads : {1, 12}) {
    for (const bool compiled : {true, false}) {
      if (fmt::format("window256/H:{}/", heads).find(options.filter) == std::string::npos) continue;
      const Json one = measure(heads, compiled, cache, options.samples);
      all.push_back(one);
      if (options.json) continue;
      fmt::print("{:<36} launch {:6.2f} MiB (bar {:.0f}), process {:6.2f} MiB, {:.2f} of it file pages, most of {}\n",
                 one["name"].get<std::string>(), one["launch_mib"].get<double>(), kBar, one["process_mib"].get<double>(),
                 one["file_pages_mib"].get<double>(), options.samples);
    }
  }
  if (options.json) fmt::print("{}\n", all.dump(2));
  return all.empty() ? 2 : 0;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "--child") return measure_launch(std::stoll(arguments[1]), arguments[2]);
  return measure_all(bench::parse_options(arguments, 3));
}

}  // namespace

int main(int argc, char** argv) try {
  return run({argv + 1, argv + argc});
} catch (const std::exception& error) {
  fmt::print(stderr, "memory: {}\n", error.what());
  return 1;
}
