// The C interface that NVRTC and hipRTC have in common: hipRTC's functions are NVRTC's under another prefix.
#pragma once
#include <cstddef>
#include <string>
#include <vector>
#include "src/jit/device_compiler.h"
#include "src/jit/vendor_library.h"

namespace heddle::jit {

/// The functions of an open library that both vendors have.
class RtcInterface {
 public:
  using Program = struct RtcProgram*;
  using Result = int;  ///< 0: success
  using SizeOf = Result (*)(Program, size_t*);
  using Read = Result (*)(Program, char*);

  /// `product` names it in messages, `prefix` begins its symbols ("nvrtc"). Throws ToolchainError when a function is missing.
  RtcInterface(const VendorLibrary& library, std::string product, const std::string& prefix);

  /// Throws ToolchainError "<product>: <what>: <error>" unless the call succeeded.
  void check(Result result, const char* what) const;
  /// "13.0"
  std::string version_number() const;

 private:
  friend class RtcCompilation;

  std::string product_;
  const char* (*error_text_)(Result);
  Result (*version_)(int*, int*);
  Result (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  Result (*destroy_)(Program*);
  Result (*compile_)(Program, int, const char* const*);
  SizeOf log_size_;
  Read log_;
};

/// A source on its way through a compiler. `interface` must outlive it.
class RtcCompilation {
 public:
  RtcCompilation(const RtcInterface& interface, const DeviceSource& source);
  ~RtcCompilation() { interface_.destroy_(&program_); }
  RtcCompilation(const RtcCompilation&) = delete;
  RtcCompilation& operator=(const RtcCompilation&) = delete;

  /// Compiles and returns the log. Throws ToolchainError with the first error and its line when the source is refused.
  std::string run(const GpuTarget& target, const std::vector<std::string>& options);
  /// A blob that a pair of functions hands out.
  std::string blob(RtcInterface::SizeOf size, RtcInterface::Read read, const char* what) const;
  /// The same without the zero bytes at its end, which the size of a text counts.
  std::string text(RtcInterface::SizeOf size, RtcInterface::Read read, const char* what) const;

 private:
  const RtcInterface& interface_;
  const DeviceSource& source_;
  RtcInterface::Program program_ = nullptr;
};

}  // namespace heddle::jit
