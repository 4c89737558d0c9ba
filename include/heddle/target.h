// A compilation target as a plain value: it compares, prints and parses back; it is never a global.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Instruction set level that decides vector width and register count of emitted CPU code.
enum class CpuLevel { Avx2, Avx512 };

/// What code is generated for. Text form: "cpu:<level>" with <level> one of avx2, avx512 ("cpu:avx512").
struct Target {
  CpuLevel level = CpuLevel::Avx2;

  int lanes() const { return level == CpuLevel::Avx512 ? 16 : 8; }             ///< float32 lanes of a vector.
  int vector_registers() const { return level == CpuLevel::Avx512 ? 32 : 16; }
  std::string to_string() const;
  /// LLVM feature string ("+avx2,+fma,...") that pins the level whatever the host has.
  std::string features() const;
  bool operator==(const Target&) const = default;

  /// Throws UserError naming the accepted forms.
  static Target parse(std::string_view text);
  /// The best level this machine can run. Throws ToolchainError on a host without AVX2, FMA and F16C.
  static Target host();
  /// All targets Heddle can name, best last.
  static std::vector<Target> all();
  /// True when this machine can execute code of the target; otherwise `why` (if given) says what is missing.
  bool runs_here(std::string* why = nullptr) const;
};

}  // namespace heddle
