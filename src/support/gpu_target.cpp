#include "src/support/gpu_target.h"
#include <fmt/format.h>
#include <array>
#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle {

namespace {

struct Arch {
  GpuVendor vendor;
  const char* name;
  int shared_kibibytes;
  int registers;
  int register_file;
};

constexpr std::array kArchs = {
    Arch{GpuVendor::Cuda, "sm_80", 163, 255, 65536},  Arch{GpuVendor::Cuda, "sm_89", 99, 255, 65536},
    Arch{GpuVendor::Cuda, "sm_90", 227, 255, 65536},  Arch{GpuVendor::Cuda, "sm_100", 227, 255, 65536},
    Arch{GpuVendor::Cuda, "sm_120", 99, 255, 65536},  Arch{GpuVendor::Hip, "gfx908", 64, 512, 131072},
    Arch{GpuVendor::Hip, "gfx90a", 64, 512, 131072}, Arch{GpuVendor::Hip, "gfx942", 64, 512, 131072},
};

const Arch& arch_of(const GpuTarget& target) {
  for (const Arch& arch : kArchs) {
    if (arch.vendor == target.vendor && arch.name == target.arch) return arch;
  }
  throw UserError(fmt::format("no GPU target is called {}", support::quote(target.arch)));
}

}  // namespace

int GpuTarget::lanes() const { return vendor == GpuVendor::Cuda ? 32 : 64; }

int GpuTarget::shared_bytes() const { return arch_of(*this).shared_kibibytes * 1024; }

int GpuTarget::registers() const { return arch_of(*this).registers; }

int GpuTarget::register_file() const { return arch_of(*this).register_file; }

std::string GpuTarget::to_string() const { return (vendor == GpuVendor::Cuda ? "cuda:" : "hip:") + arch; }

std::vector<GpuTarget> GpuTarget::all() {
  std::vector<GpuTarget> targets;
  for (const Arch& arch : kArchs) targets.push_back({arch.vendor, arch.name});
  return targets;
}

GpuTarget GpuTarget::parse(std::string_view text) {
  std::vector<std::string> names;
  for (const GpuTarget& target : all()) {
    names.push_back(target.to_string());
    if (names.back() == text) return target;
  }
  const std::string near = support::nearest(text, names);
  throw UserError(fmt::format("unknown GPU target {}; expected one of {}", support::quote(text), support::list(names)),
                  near.empty() ? "" : "did you mean " + near + "?");
}

}  // namespace heddle
