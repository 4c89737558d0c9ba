#include "heddle/target.h"
#include <fmt/format.h>
#include <array>
#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle {

namespace {

#if defined(__aarch64__)
constexpr bool kArm = true;
#else
constexpr bool kArm = false;
#endif

/// A CPU feature, as LLVM names it, and whether this machine (processor and operating system) has it.
struct Feature {
  const char* name;
  bool here;
};

#if defined(__x86_64__)
#define HEDDLE_HAS(name) (__builtin_cpu_supports(name) != 0)
#else
#define HEDDLE_HAS(name) false
#endif

/// Whether dot products of bfloat16 are worth their name here.
bool has_fast_dots() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

std::vector<Feature> needed_features(const Target& target) {
  const CpuLevel level = target.level;
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
  if (level == CpuLevel::Aarch64) return {};
  if (level == CpuLevel::X86_64) return {{"sse2", HEDDLE_HAS("sse2")}};
  std::vector<Feature> features = {{"sse4.2", HEDDLE_HAS("sse4.2")}, {"popcnt", HEDDLE_HAS("popcnt")},
                                   {"avx", HEDDLE_HAS("avx")},       {"avx2", HEDDLE_HAS("avx2")},
                                   {"fma", HEDDLE_HAS("fma")},       {"f16c", HEDDLE_HAS("f16c")},
                                   {"bmi", HEDDLE_HAS("bmi")},       {"bmi2", HEDDLE_HAS("bmi2")}};
  if (level == CpuLevel::Avx512) {
    features.push_back({"avx512f", HEDDLE_HAS("avx512f")});
    features.push_back({"avx512bw", HEDDLE_HAS("avx512bw")});
    features.push_back({"avx512dq", HEDDLE_HAS("avx512dq")});
    features.push_back({"avx512vl", HEDDLE_HAS("avx512vl")});
  }
  if (target.bfloat16_dots) features.push_back({"avx512bf16", HEDDLE_HAS("avx512bf16")});
  return features;
}

}  // namespace

int Target::lanes() const {
  switch (level) {
    case CpuLevel::Aarch64: case CpuLevel::X86_64: return 4;
    case CpuLevel::Avx2: return 8;
    case CpuLevel::Avx512: break;
  }
  return 16;
}

int Target::vector_registers() const {
  switch (level) {
    case CpuLevel::X86_64: return 15;
    case CpuLevel::Avx2: return 16;
    case CpuLevel::Aarch64: case CpuLevel::Avx512: break;
  }
  return 32;
}

std::string Target::to_string() const {
  switch (level) {
    case CpuLevel::Aarch64: return "cpu:aarch64";
    case CpuLevel::X86_64: return "cpu:x86-64";
    case CpuLevel::Avx2: return "cpu:avx2";
    case CpuLevel::Avx512: break;
  }
  return bfloat16_dots ? "cpu:avx512-bf16" : "cpu:avx512";
}

std::string Target::features() const {
  std::string text;
  for (const Feature& feature : needed_features(*this)) text += fmt::format("{}+{}", text.empty() ? "" : ",", feature.name);
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
    if (target->bfloat16_dots && !has_fast_dots()) continue;
    if (target->runs_here(&why)) return *target;
  }
  throw ToolchainError(fmt::format("this processor cannot run Heddle's kernels: {}", why));
}

std::vector<Target> Target::all() { return {{CpuLevel::Aarch64}, {CpuLevel::X86_64}, {CpuLevel::Avx2}, {CpuLevel::Avx512}, {CpuLevel::Avx512, true}}; }

bool Target::runs_here(std::string* why) const {
  if ((level == CpuLevel::Aarch64) != kArm) {
    if (why) *why = fmt::format("the processor is no {} one", kArm ? "x86-64" : "AArch64");
    return false;
  }
  std::vector<std::string> missing;
  for (const Feature& feature : needed_features(*this)) {
    if (!feature.here) missing.push_back(feature.name);
  }
  if (why && !missing.empty()) *why = fmt::format("the processor or the operating system lacks {}", support::list(missing));
  return missing.empty();
}

}  // namespace heddle
