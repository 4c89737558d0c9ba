// The border of libheddle_clang: clang and lld in this process, opened at first need, since loading them costs more than
// loading Heddle.
#pragma once
#include <string>

namespace heddle::jit {

inline constexpr const char* kClangEntry = "heddle_clang_device_v1";

/// What the library offers; handed out by `const ClangEntry* heddle_clang_device_v1()`.
struct ClangEntry {
  const char* version;  ///< Of the libclang-cpp that is loaded: "Debian clang version 19.1.7 (3~deb12u1)".
  /// Compiles HIP text (no include) for an architecture of clang's list to a linked code object. False: `log` says why. Thread
  /// safe.
  bool (*compile)(const std::string& text, const std::string& name, const std::string& arch, std::string* object,
                  std::string* log);
};

}  // namespace heddle::jit
