#include "src/jit/nvrtc.h"

#include <fmt/format.h>

#include "src/jit/rtc_interface.h"

namespace heddle::jit {

namespace {

std::vector<std::string> library_names() {
  std::vector<std::string> names;
  for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"}) {
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) names.push_back(std::string(folder) + name);
  }
  return names;
}

/// The functions of nvrtc.h that hipRTC does not have.
struct Functions {
  explicit Functions(const VendorLibrary& library)
      : arch_count(library.function<Result (*)(int*)>("nvrtcGetNumSupportedArchs")),
        archs(library.function<Result (*)(int*)>("nvrtcGetSupportedArchs")),
        ptx_size(library.function<RtcInterface::SizeOf>("nvrtcGetPTXSize")),
        ptx(library.function<RtcInterface::Read>("nvrtcGetPTX")),
        cubin_size(library.function<RtcInterface::SizeOf>("nvrtcGetCUBINSize")),
        cubin(library.function<RtcInterface::Read>("nvrtcGetCUBIN")) {}

  using Result = RtcInterface::Result;
  Result (*arch_count)(int*);
  Result (*archs)(int*);
  RtcInterface::SizeOf ptx_size;
  RtcInterface::Read ptx;
  RtcInterface::SizeOf cubin_size;
  RtcInterface::Read cubin;
};

std::vector<std::string> options_of(const GpuTarget& target, const DeviceOptions& options) {
  const std::string arch = options.ptx_only ? "compute_" + target.arch.substr(3) : target.arch;
  std::vector<std::string> texts = {"--gpu-architecture=" + arch, "--std=c++17", "--ptxas-options=-v"};
  if (options.max_registers > 0) texts.push_back(fmt::format("--maxrregcount={}", options.max_registers));
  return texts;
}

class Nvrtc : public DeviceCompiler {
 public:
  Nvrtc()
      : library_("NVRTC", library_names(), "install the CUDA toolkit 12 or 13 (libnvrtc and libnvrtc-builtins)"),
        interface_(library_, "NVRTC", "nvrtc"),
        functions_(library_),
        version_(fmt::format("NVRTC {} ({})", interface_.version_number(), library_.build())) {
    int count = 0;
    interface_.check(functions_.arch_count(&count), "number of architectures");
    std::vector<int> numbers(count);
    interface_.check(functions_.archs(numbers.data()), "architectures");
    for (const int number : numbers) archs_.push_back(fmt::format("sm_{}", number));
  }

  std::string version() const override { return version_; }
  GpuVendor vendor() const override { return GpuVendor::Cuda; }
  const std::vector<std::string>& archs() const override { return archs_; }

 protected:
  DeviceCode build(const DeviceSource& source, const GpuTarget& target, const DeviceOptions& options) const override {
    refuse_environment("NVRTC", {"NVRTC_APPEND_FLAGS", "NVRTC_PREPEND_FLAGS"});
    RtcCompilation compilation(interface_, source);
    DeviceCode code;
    code.log = compilation.run(target, options_of(target, options));
    code.ptx = compilation.text(functions_.ptx_size, functions_.ptx, "read PTX");
    if (options.ptx_only) return code;
    code.binary = compilation.blob(functions_.cubin_size, functions_.cubin, "read cubin");
    code.kernels = ptxas_figures(code.log);
    return code;
  }

 private:
  VendorLibrary library_;
  RtcInterface interface_;
  Functions functions_;
  std::string version_;
  std::vector<std::string> archs_;
};

}  // namespace

std::unique_ptr<const DeviceCompiler> open_nvrtc() { return std::make_unique<Nvrtc>(); }

}  // namespace heddle::jit
