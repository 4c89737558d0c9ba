// Which GPUs this machine has, asked of the CUDA driver and of the kernel's list of AMD devices.
#pragma once
#include <string>
#include <vector>

#include "src/support/gpu_target.h"

namespace heddle::jit {

/// Architectures of the vendor's devices ("sm_86", "gfx90a"), one a device; empty with `why` ("no NVIDIA driver
/// (libcuda.so.1)"). CUDA: the driver API, opened with dlopen. AMD: gfx_target_version under /sys/class/kfd/kfd/topology/nodes,
/// which needs no library.
std::vector<std::string> devices_here(GpuVendor vendor, std::string* why);

/// True when a device of the machine executes binaries of the target: CUDA: same major version and no older minor version; AMD:
/// the same.
bool runs_on(const GpuTarget& target, const std::string& device);

/// Whether any device does; otherwise `why` says what is missing.
bool runs_here(const GpuTarget& target, std::string* why);

}  // namespace heddle::jit
