// A compilation target as a plain value: it compares, prints and parses back; it is never a global.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Instruction set level that decides vector width and register count of emitted CPU code. Aarch64: 64-bit Arm with its Neon vectors;
/// X86_64: what every x86-64 processor has (SSE2, no fused multiply-add); Avx2: with FMA and F16C; Avx512: with F, BW, DQ and VL.
enum class CpuLevel { Aarch64, X86_64, Avx2, Avx512 };

/// What code is generated for. Text form: "cpu:<level>" with <level> one of aarch64, x86-64, avx2, avx512 ("cpu:avx512"), or
/// "cpu:avx512-bf16".
struct Target {
  CpuLevel level = CpuLevel::Avx2;
  bool bfloat16_dots = false;    ///< Of Avx512: products of bfloat16 operands by dot-product instructions (AVX512_BF16).

  int lanes() const;             ///< float32 lanes of a vector.
  int vector_registers() const;  ///< That a register tile may fill; without fused multiply-add one of 16 holds products.
  bool fuses() const { return level != CpuLevel::X86_64; }  ///< Has fused multiply-add.
  std::string to_string() const;
  /// LLVM feature string ("+avx2,+fma,...") that pins the level whatever the host has.
  std::string features() const;
  bool operator==(const Target&) const = default;

  /// Throws UserError naming the accepted forms.
  static Target parse(std::string_view text);
  /// The best target for this machine. Dot products of bfloat16 are chosen where they are faster than widening: AMD's processors issue
  /// two a cycle, Intel's (measured on Sapphire Rapids) one in two cycles, half the rate of fused multiply-adds. Throws ToolchainError on a host that is neither x86-64 nor AArch64.
  static Target host();
  /// All targets Heddle can name, better ones last; cpu:avx512-bf16 comes last.
  static std::vector<Target> all();
  /// True when this machine can execute code of the target; otherwise `why` (if given) says what is missing.
  bool runs_here(std::string* why = nullptr) const;
};

}  // namespace heddle
