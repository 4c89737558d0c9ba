// AMD's run-time compiler, opened with dlopen: HIP C++ text to a code object.
//
// Searched as libhiprtc.so.7, .so.6, libamdhip64.so.5 (which holds it up to ROCm 5), libhiprtc.so on the loader's path, then in
// /opt/rocm/lib. hipRTC of ROCm 5 aborts the process for an architecture that it does not know; what it knows is asked of
// libamd_comgr, the library that it compiles with, before any call (amd_comgr_get_isa_name).
#pragma once
#include <memory>

#include "src/jit/device_compiler.h"

namespace heddle::jit {

/// Throws ToolchainError ("hipRTC not found; ...").
std::unique_ptr<const DeviceCompiler> open_hiprtc();

}  // namespace heddle::jit
