// Clang and lld in this process as a compiler of HIP text: for the AMD architectures that hipRTC does not know.
//
// They live in libheddle_clang, a library of the same build that is opened at first need; it is built only where libclang-cpp
// and lld of LLVM 19 are installed.
#pragma once
#include <memory>

#include "src/jit/device_compiler.h"

namespace heddle::jit {

/// Throws ToolchainError ("clang 19 as a library not found; ...").
std::unique_ptr<const DeviceCompiler> open_clang_device();

}  // namespace heddle::jit
