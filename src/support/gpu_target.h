// A GPU that kernels are generated for, as a plain value: it compares, prints and parses back; it is never a global.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

enum class GpuVendor : uint8_t { Cuda, Hip };

/// One GPU architecture. Text form: "cuda:<arch>" with sm_80, sm_89, sm_90, sm_100 or sm_120; "hip:<arch>" with gfx908, gfx90a or gfx942.
struct GpuTarget {
  GpuVendor vendor = GpuVendor::Cuda;
  std::string arch = "sm_80";

  int lanes() const;           ///< Threads that run in lock step: a warp of 32, a wave of 64.
  int shared_bytes() const;    ///< Most shared memory (LDS) of one block. CUDA C++ Programming Guide, table of compute capabilities; CDNA ISA.
  int registers() const;       ///< Most 32-bit registers of one thread; with the accumulation registers on gfx9.
  /// 32-bit registers of one multiprocessor (compute unit): what `registers()` of all resident threads share.
  int register_file() const;
  std::string to_string() const;
  bool operator==(const GpuTarget&) const = default;

  /// Throws UserError naming the accepted forms.
  static GpuTarget parse(std::string_view text);
  /// All GPU targets Heddle can name, by vendor, oldest first.
  static std::vector<GpuTarget> all();
};

}  // namespace heddle
