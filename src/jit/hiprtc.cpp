#include "src/jit/hiprtc.h"

#include <fmt/format.h>

#include <mutex>

#include "heddle/error.h"
#include "src/jit/rtc_interface.h"

namespace heddle::jit {

namespace {

constexpr const char* kInstall = "install ROCm (Debian: libamdhip64-dev, libhiprtc-builtins5, hipcc)";

std::vector<std::string> in_folders(const std::vector<std::string>& names) {
  std::vector<std::string> paths = names;
  for (const std::string& name : names) paths.push_back("/opt/rocm/lib/" + name);
  return paths;
}

/// The gfx names of libamd_comgr's list ("amdgcn-amd-amdhsa--gfx90a").
std::vector<std::string> comgr_archs(const VendorLibrary& comgr) {
  size_t count = 0;
  if (comgr.function<int (*)(size_t*)>("amd_comgr_get_isa_count")(&count) != 0)
    throw ToolchainError("libamd_comgr cannot count its targets");
  const auto name_of = comgr.function<int (*)(size_t, const char**)>("amd_comgr_get_isa_name");
  std::vector<std::string> archs;
  for (size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (name_of(i, &name) != 0 || !name) continue;
    const std::string isa = name;
    const size_t at = isa.rfind("gfx");
    if (at != std::string::npos) archs.push_back(isa.substr(at));
  }
  return archs;
}

class Hiprtc : public DeviceCompiler {
 public:
  Hiprtc()
      : library_("hipRTC", in_folders({"libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so.5", "libhiprtc.so"}), kInstall),
        comgr_("libamd_comgr", in_folders(comgr_names(library_)), kInstall),
        interface_(library_, "hipRTC", "hiprtc"),
        code_size_(library_.function<RtcInterface::SizeOf>("hiprtcGetCodeSize")),
        code_(library_.function<RtcInterface::Read>("hiprtcGetCode")),
        version_(fmt::format("hipRTC {} ({}, comgr {})", interface_.version_number(), library_.build(), comgr_.build())),
        archs_(comgr_archs(comgr_)) {}

  std::string version() const override { return version_; }
  GpuVendor vendor() const override { return GpuVendor::Hip; }
  const std::vector<std::string>& archs() const override { return archs_; }

 protected:
  DeviceCode build(const DeviceSource& source, const GpuTarget& target, const DeviceOptions&) const override {
    refuse_environment("hipRTC", {"HIPRTC_COMPILE_OPTIONS_APPEND", "HIPRTC_LINK_OPTIONS_APPEND"});
    std::lock_guard lock(one_at_a_time_);
    RtcCompilation compilation(interface_, source);
    DeviceCode code;
    code.log = compilation.run(target, {"--gpu-architecture=" + target.arch, "-O3"});
    code.binary = compilation.blob(code_size_, code_, "read code");
    code.kernels = code_object_figures(code.binary);
    return code;
  }

 private:
  /// The one that this hipRTC itself opens: by major version of its file name.
  static std::vector<std::string> comgr_names(const VendorLibrary& library) {
    if (library.path().find("libhiprtc.so.7") != std::string::npos) return {"libamd_comgr.so.3"};
    return {"libamd_comgr.so.2", "libamd_comgr.so"};
  }

  VendorLibrary library_, comgr_;
  RtcInterface interface_;
  RtcInterface::SizeOf code_size_;
  RtcInterface::Read code_;
  std::string version_;
  std::vector<std::string> archs_;
  mutable std::mutex one_at_a_time_;  ///< comgr keeps LLVM's options in globals.
};

}  // namespace

std::unique_ptr<const DeviceCompiler> open_hiprtc() { return std::make_unique<Hiprtc>(); }

}  // namespace heddle::jit
