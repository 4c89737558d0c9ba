// One interface to the compilers of GPU source text (NVRTC, hipRTC, clang in this process), and the choice among them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/jit/gpu_figures.h"
#include "src/support/gpu_target.h"

namespace heddle::jit {

/// A whole translation unit: prelude and kernels, no include in it. `name` is what compilers call it in their messages.
struct DeviceSource {
  std::string name = "kernel.cu";
  std::string text;
};

struct DeviceOptions {
  bool ptx_only = false;  ///< CUDA: no machine code, half the time.
  int max_registers = 0;  ///< CUDA: bound of a thread's registers; 0: the compiler's choice.
};

struct DeviceCode {
  std::string binary;  ///< Cubin, or AMD code object; empty with ptx_only.
  std::string ptx;     ///< CUDA only.
  std::string log;     ///< All the compiler said.
  std::vector<KernelFigures> kernels;
};

/// A compiler that is present on this machine. Thread safe.
class DeviceCompiler {
 public:
  virtual ~DeviceCompiler() = default;
  /// Name, version and build: part of every cache key.
  virtual std::string version() const = 0;
  virtual GpuVendor vendor() const = 0;
  /// Architectures it generates code for ("sm_80", "gfx90a"), found out without compiling.
  virtual const std::vector<std::string>& archs() const = 0;
  bool takes(const GpuTarget& target) const;
  /// Throws ToolchainError: for a target outside `archs()` before the compiler is called; for refused source with the first
  /// error's line of source and the whole log.
  DeviceCode compile(const DeviceSource& source, const GpuTarget& target, const DeviceOptions& options = {}) const;

 protected:
  /// Called only with a target of `archs()`.
  virtual DeviceCode build(const DeviceSource& source, const GpuTarget& target, const DeviceOptions& options) const = 0;
};

/// "kernel.cu:3: identifier "x" is undefined\n  <line 3>" of the first error in a log of any of these compilers; the log's
/// first line when it has none.
std::string first_error(const DeviceSource& source, const std::string& log);

/// A compiler, or why there is none.
struct DeviceCompilerSlot {
  std::string name;  ///< "NVRTC"
  std::unique_ptr<const DeviceCompiler> compiler;
  std::string why_not;  ///< "NVRTC not found; install ...", empty when there is one.
};

/// Which targets can be compiled here.
struct TargetState {
  GpuTarget target;
  bool compiles = false;
  bool runs = false;
  std::string compiler;  ///< Version of the one that would be used.
  std::string why_not_compiled;
  std::string why_not_run;
};

/// The compilers of one process, each opened at first need. For AMD, hipRTC goes first and clang takes what it does not know.
class DeviceCompilers {
 public:
  DeviceCompilers();
  ~DeviceCompilers();
  /// The compiler for a target. Throws ToolchainError with every compiler's reason.
  const DeviceCompiler& for_target(const GpuTarget& target) const;
  const DeviceCompilerSlot& nvrtc() const;
  const DeviceCompilerSlot& hiprtc() const;
  const DeviceCompilerSlot& clang() const;
  /// All targets: can compile here, can run here, why not.
  std::vector<TargetState> states() const;

 private:
  struct Slots;
  std::unique_ptr<Slots> slots_;
};

}  // namespace heddle::jit
