#include "src/jit/device_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <regex>

#include "heddle/error.h"
#include "src/jit/clang_device.h"
#include "src/jit/gpu_devices.h"
#include "src/jit/hiprtc.h"
#include "src/jit/nvrtc.h"
#include "src/support/text.h"

namespace heddle::jit {

namespace {

using Opener = std::unique_ptr<const DeviceCompiler> (*)();

DeviceCompilerSlot open(const std::string& name, Opener opener) {
  try {
    return {name, opener(), {}};
  } catch (const ToolchainError& error) {
    return {name, nullptr, error.what()};
  }
}

/// Line `number` (from 1) of a text, without its indentation.
std::string line_of(const std::string& text, size_t number) {
  size_t begin = 0;
  for (size_t line = 1; line < number && begin != std::string::npos; ++line) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos) return {};
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string::npos ? std::string() : line.substr(first);
}

}  // namespace

std::string first_error(const DeviceSource& source, const std::string& log) {
  // NVRTC: `name(3): error: text`; clang: `name:3:7: error: text`.
  static const std::regex pattern(
      R"(([^\s(:][^(:\n]*)(?:\((\d+)\)|:(\d+):\d+): (?:fatal )?(?:catastrophic )?error:? ?([^\n]*))");
  std::smatch match;
  if (!std::regex_search(log, match, pattern)) return log.substr(0, log.find('\n'));
  const std::string number = match[2].matched ? match[2] : match[3];
  return fmt::format("{}:{}: {}\n  {}", match[1].str(), number, match[4].str(), line_of(source.text, std::stoul(number)));
}

bool DeviceCompiler::takes(const GpuTarget& target) const {
  return target.vendor == vendor() && std::find(archs().begin(), archs().end(), target.arch) != archs().end();
}

DeviceCode DeviceCompiler::compile(const DeviceSource& source, const GpuTarget& target, const DeviceOptions& options) const {
  if (!takes(target)) {
    throw ToolchainError(fmt::format("{} does not generate code for {}; it knows {}", version(), target.to_string(),
                                     support::list(archs(), 64)));
  }
  return build(source, target, options);
}

struct DeviceCompilers::Slots {
  struct Lazy {
    std::string name;
    Opener opener;
    std::once_flag once{};
    DeviceCompilerSlot slot{};

    const DeviceCompilerSlot& get() {
      std::call_once(once, [this] { slot = open(name, opener); });
      return slot;
    }
  };
  Lazy nvrtc{"NVRTC", &open_nvrtc};
  Lazy hiprtc{"hipRTC", &open_hiprtc};
  Lazy clang{"clang", &open_clang_device};

  /// In the order in which they are asked.
  std::vector<const DeviceCompilerSlot*> of(GpuVendor vendor) {
    if (vendor == GpuVendor::Cuda) return {&nvrtc.get()};
    return {&hiprtc.get(), &clang.get()};
  }
};

DeviceCompilers::DeviceCompilers() : slots_(std::make_unique<Slots>()) {}
DeviceCompilers::~DeviceCompilers() = default;

const DeviceCompilerSlot& DeviceCompilers::nvrtc() const { return slots_->nvrtc.get(); }
const DeviceCompilerSlot& DeviceCompilers::hiprtc() const { return slots_->hiprtc.get(); }
const DeviceCompilerSlot& DeviceCompilers::clang() const { return slots_->clang.get(); }

const DeviceCompiler& DeviceCompilers::for_target(const GpuTarget& target) const {
  std::string reasons;
  for (const DeviceCompilerSlot* slot : slots_->of(target.vendor)) {
    if (slot->compiler && slot->compiler->takes(target)) return *slot->compiler;
    reasons +=
        slot->compiler ? fmt::format("{} does not know {}\n", slot->compiler->version(), target.arch) : slot->why_not + "\n";
  }
  throw ToolchainError(fmt::format("no compiler here generates code for {}", target.to_string()), reasons);
}

std::vector<TargetState> DeviceCompilers::states() const {
  std::vector<TargetState> states;
  for (const GpuTarget& target : GpuTarget::all()) {
    TargetState state{target, false, false, {}, {}, {}};
    state.runs = runs_here(target, &state.why_not_run);
    try {
      state.compiler = for_target(target).version();
      state.compiles = true;
    } catch (const ToolchainError& error) {
      state.why_not_compiled = error.what();
    }
    states.push_back(state);
  }
  return states;
}

}  // namespace heddle::jit
