#include "src/jit/hiprtc.h"

#include <fmt/format.h>

#include <mutex>

#include "heddle/error.h"
#include "src/jit/vendor_library.h"

namespace heddle::jit {

namespace {

using Program = struct HiprtcProgram*;
using Result = int;  // 0: success

constexpr const char* kInstall = "install ROCm (Debian: libamdhip64-dev, libhiprtc-builtins5, hipcc)";

std::vector<std::string> in_folders(const std::vector<std::string>& names) {
  std::vector<std::string> paths = names;
  for (const std::string& name : names) paths.push_back("/opt/rocm/lib/" + name);
  return paths;
}

/// The functions of hiprtc.h that are used.
struct Functions {
  explicit Functions(const VendorLibrary& library)
      : error_text(library.function<const char* (*)(Result)>("hiprtcGetErrorString")),
        version(library.function<Result (*)(int*, int*)>("hiprtcVersion")),
        create(library.function<Result (*)(Program*, const char*, const char*, int, const char**, const char**)>(
            "hiprtcCreateProgram")),
        destroy(library.function<Result (*)(Program*)>("hiprtcDestroyProgram")),
        compile(library.function<Result (*)(Program, int, const char**)>("hiprtcCompileProgram")),
        log_size(library.function<Result (*)(Program, size_t*)>("hiprtcGetProgramLogSize")),
        log(library.function<Result (*)(Program, char*)>("hiprtcGetProgramLog")),
        code_size(library.function<Result (*)(Program, size_t*)>("hiprtcGetCodeSize")),
        code(library.function<Result (*)(Program, char*)>("hiprtcGetCode")) {}

  void check(Result result, const char* what) const {
    if (result != 0) throw ToolchainError(fmt::format("hipRTC: {}: {}", what, error_text(result)));
  }

  const char* (*error_text)(Result);
  Result (*version)(int*, int*);
  Result (*create)(Program*, const char*, const char*, int, const char**, const char**);
  Result (*destroy)(Program*);
  Result (*compile)(Program, int, const char**);
  Result (*log_size)(Program, size_t*);
  Result (*log)(Program, char*);
  Result (*code_size)(Program, size_t*);
  Result (*code)(Program, char*);
};

/// One compilation; destroyed with the object.
class Compilation {
 public:
  Compilation(const Functions& functions, const DeviceSource& source) : functions_(functions) {
    functions_.check(functions_.create(&program_, source.text.c_str(), source.name.c_str(), 0, nullptr, nullptr),
                     "create program");
  }
  ~Compilation() { functions_.destroy(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  Result run(const std::string& arch) {
    const std::string option = "--gpu-architecture=" + arch;
    std::vector<const char*> options = {option.c_str(), "-O3"};
    return functions_.compile(program_, static_cast<int>(options.size()), options.data());
  }
  std::string log() const {
    std::string text = read(functions_.log_size, functions_.log, "read log");
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
  std::string code() const { return read(functions_.code_size, functions_.code, "read code"); }

 private:
  std::string read(Result (*size)(Program, size_t*), Result (*get)(Program, char*), const char* what) const {
    size_t bytes = 0;
    functions_.check(size(program_, &bytes), what);
    std::string blob(bytes, '\0');
    if (bytes > 0) functions_.check(get(program_, blob.data()), what);
    return blob;
  }

  const Functions& functions_;
  Program program_ = nullptr;
};

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
        functions_(library_),
        archs_(comgr_archs(comgr_)) {
    int major = 0, minor = 0;
    functions_.check(functions_.version(&major, &minor), "version");
    version_ = fmt::format("hipRTC {}.{} ({}, comgr {})", major, minor, library_.build(), comgr_.build());
  }

  std::string version() const override { return version_; }
  GpuVendor vendor() const override { return GpuVendor::Hip; }
  const std::vector<std::string>& archs() const override { return archs_; }

 protected:
  DeviceCode build(const DeviceSource& source, const GpuTarget& target, const DeviceOptions&) const override {
    refuse_environment("hipRTC", {"HIPRTC_COMPILE_OPTIONS_APPEND", "HIPRTC_LINK_OPTIONS_APPEND"});
    std::lock_guard lock(one_at_a_time_);
    Compilation compilation(functions_, source);
    const Result result = compilation.run(target.arch);
    DeviceCode code;
    code.log = compilation.log();
    if (result != 0) {
      throw ToolchainError(fmt::format("hipRTC refuses the source for {} ({}): {}", target.to_string(),
                                       functions_.error_text(result), first_error(source, code.log)),
                           code.log);
    }
    code.binary = compilation.code();
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
  Functions functions_;
  std::string version_;
  std::vector<std::string> archs_;
  mutable std::mutex one_at_a_time_;  ///< comgr keeps LLVM's options in globals.
};

}  // namespace

std::unique_ptr<const DeviceCompiler> open_hiprtc() { return std::make_unique<Hiprtc>(); }

}  // namespace heddle::jit
