#include "heddle/target.h"
#include <fmt/format.h>
#include <array>
#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle {

namespace {

/// A CPU feature, as LLVM names it, and whether this machine (processor and operating system) has it.
struct Feature {
  const char* name;
  bool here;
};

std::vector<Feature> needed_features(CpuLevel level) {
  __builtin_cpu_init();
  std::vector<Feature> features = {{"sse4.2", __builtin_cpu_supports("sse4.2") != 0}, {"popcnt", __builtin_cpu_supports("popcnt") != 0},
                                   {"avx", __builtin_cpu_supports("avx") != 0},       {"avx2", __builtin_cpu_supports("avx2") != 0},
                                   {"fma", __builtin_cpu_supports("fma") != 0},       {"f16c", __builtin_cpu_supports("f16c") != 0},
                                   {"bmi", __builtin_cpu_supports("bmi") != 0},       {"bmi2", __builtin_cpu_supports("bmi2") != 0}};
  if (level == CpuLevel::Avx512) {
    features.push_back({"avx512f", __builtin_cpu_supports("avx512f") != 0});
    features.push_back({"avx512bw", __builtin_cpu_supports("avx512bw") != 0});
    features.push_back({"avx512dq", __builtin_cpu_supports("avx512dq") != 0});
    features.push_back({"avx512vl", __builtin_cpu_supports("avx512vl") != 0});
  }
  return features;
}

}  // namespace

std::string Target::to_string() const { return level == CpuLevel::Avx512 ? "cpu:avx512" : "cpu:avx2"; }

std::string Target::features() const {
  std::string text;
  for (const Feature& feature : needed_features(level)) text += fmt::format("{}+{}", text.empty() ? "" : ",", feature.name);
  return text;
}

Target Target::parse(std::string_view text) {
  std::vector<std::string> names;
  for (const Target& target : all()) {
    if (text == target.to_string()) return target;
    names.push_back(target.to_string());
  }
  throw UserError(fmt::format("unknown target {}; expected one of {}", support::quote(text), support::list(names)));
}

Target Target::host() {
  const std::vector<Target> targets = all();
  std::string why;
  for (auto target = targets.rbegin(); target != targets.rend(); ++target) {
    if (target->runs_here(&why)) return *target;
  }
  throw ToolchainError(fmt::format("this processor cannot run Heddle's kernels: {}", why));
}

std::vector<Target> Target::all() { return {{CpuLevel::Avx2}, {CpuLevel::Avx512}}; }

bool Target::runs_here(std::string* why) const {
  std::vector<std::string> missing;
  for (const Feature& feature : needed_features(level)) {
    if (!feature.here) missing.push_back(feature.name);
  }
  if (why && !missing.empty()) *why = fmt::format("the processor or the operating system lacks {}", support::list(missing));
  return missing.empty();
}

}  // namespace heddle
