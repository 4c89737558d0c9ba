#include "src/jit/gpu_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "heddle/error.h"
#include "src/jit/vendor_library.h"
#include "src/support/text.h"

namespace heddle::jit {

namespace {

constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76;  // CUdevice_attribute

std::vector<std::string> cuda_devices(std::string* why) {
  try {
    const VendorLibrary driver("NVIDIA driver", {"libcuda.so.1"}, "it comes with the driver of the GPU");
    const int started = driver.function<int (*)(unsigned)>("cuInit")(0);
    int count = 0;
    if (started != 0 || driver.function<int (*)(int*)>("cuDeviceGetCount")(&count) != 0 || count == 0) {
      *why = fmt::format("the NVIDIA driver finds no device (cuInit gives {})", started);
      return {};
    }
    const auto attribute = driver.function<int (*)(int*, int, int)>("cuDeviceGetAttribute");
    std::vector<std::string> archs;
    for (int device = 0; device < count; ++device) {
      int major = 0, minor = 0;
      if (attribute(&major, kComputeCapabilityMajor, device) == 0 && attribute(&minor, kComputeCapabilityMinor, device) == 0) {
        archs.push_back(fmt::format("sm_{}{}", major, minor));
      }
    }
    return archs;
  } catch (const ToolchainError& error) {
    *why = "no NVIDIA driver (libcuda.so.1)";
    return {};
  }
}

/// "gfx90a" of 90010: major, minor and stepping take two decimal digits each; minor and stepping are written in hex.
std::string gfx_name(long version) { return fmt::format("gfx{}{:x}{:x}", version / 10000, version / 100 % 100, version % 100); }

std::vector<std::string> hip_devices(std::string* why) {
  std::vector<std::string> archs;
  std::error_code failure;
  for (const auto& node : std::filesystem::directory_iterator("/sys/class/kfd/kfd/topology/nodes", failure)) {
    std::ifstream properties(node.path() / "properties");
    std::string key;
    for (long value = 0; properties >> key >> value;) {
      if (key == "gfx_target_version" && value != 0) archs.push_back(gfx_name(value));
    }
  }
  if (archs.empty()) *why = failure ? "no AMD GPU driver (/sys/class/kfd)" : "the AMD GPU driver lists no device";
  return archs;
}

}  // namespace

std::vector<std::string> devices_here(GpuVendor vendor, std::string* why) {
  return vendor == GpuVendor::Cuda ? cuda_devices(why) : hip_devices(why);
}

bool runs_on(const GpuTarget& target, const std::string& device) {
  if (target.vendor == GpuVendor::Hip) return target.arch == device;
  if (!device.starts_with("sm_") || !target.arch.starts_with("sm_")) return false;
  const int built = std::stoi(target.arch.substr(3)), present = std::stoi(device.substr(3));
  return built / 10 == present / 10 && built % 10 <= present % 10;
}

bool runs_here(const GpuTarget& target, std::string* why) {
  const std::vector<std::string> devices = devices_here(target.vendor, why);
  if (std::any_of(devices.begin(), devices.end(), [&](const std::string& device) { return runs_on(target, device); }))
    return true;
  if (!devices.empty()) *why = "the devices here are " + support::list(devices);
  return false;
}

}  // namespace heddle::jit
