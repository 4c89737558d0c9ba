// NVIDIA's run-time compiler, opened with dlopen: CUDA C++ text to PTX and cubin.
//
// Searched as libnvrtc.so.13, .so.12, .so on the loader's path, then the same in /usr/local/cuda/lib64 and /usr/local/cuda/lib.
// It needs libnvrtc-builtins of the same version beside it, and no header: Heddle's own declarations serve CUDA 12 and 13.
#pragma once
#include <memory>

#include "src/jit/device_compiler.h"

namespace heddle::jit {

/// Throws ToolchainError ("NVRTC not found; ...").
std::unique_ptr<const DeviceCompiler> open_nvrtc();

}  // namespace heddle::jit
