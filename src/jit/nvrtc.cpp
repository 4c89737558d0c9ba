#include "src/jit/nvrtc.h"

#include <fmt/format.h>

#include "heddle/error.h"
#include "src/jit/vendor_library.h"

namespace heddle::jit {

namespace {

using Program = struct NvrtcProgram*;
using Result = int;  // 0: success

std::vector<std::string> library_names() {
  std::vector<std::string> names;
  for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"}) {
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) names.push_back(std::string(folder) + name);
  }
  return names;
}

/// The functions of nvrtc.h that are used.
struct Functions {
  explicit Functions(const VendorLibrary& library)
      : error_text(library.function<const char* (*)(Result)>("nvrtcGetErrorString")),
        version(library.function<Result (*)(int*, int*)>("nvrtcVersion")),
        arch_count(library.function<Result (*)(int*)>("nvrtcGetNumSupportedArchs")),
        archs(library.function<Result (*)(int*)>("nvrtcGetSupportedArchs")),
        create(library.function<Result (*)(Program*, const char*, const char*, int, const char* const*, const char* const*)>(
            "nvrtcCreateProgram")),
        destroy(library.function<Result (*)(Program*)>("nvrtcDestroyProgram")),
        compile(library.function<Result (*)(Program, int, const char* const*)>("nvrtcCompileProgram")),
        log_size(library.function<Result (*)(Program, size_t*)>("nvrtcGetProgramLogSize")),
        log(library.function<Result (*)(Program, char*)>("nvrtcGetProgramLog")),
        ptx_size(library.function<Result (*)(Program, size_t*)>("nvrtcGetPTXSize")),
        ptx(library.function<Result (*)(Program, char*)>("nvrtcGetPTX")),
        cubin_size(library.function<Result (*)(Program, size_t*)>("nvrtcGetCUBINSize")),
        cubin(library.function<Result (*)(Program, char*)>("nvrtcGetCUBIN")) {}

  void check(Result result, const char* what) const {
    if (result != 0) throw ToolchainError(fmt::format("NVRTC: {}: {}", what, error_text(result)));
  }
  /// A text or blob that NVRTC hands out by a pair of functions.
  std::string read(Program program, Result (*size)(Program, size_t*), Result (*get)(Program, char*), const char* what) const {
    size_t bytes = 0;
    check(size(program, &bytes), what);
    std::string blob(bytes, '\0');
    if (bytes > 0) check(get(program, blob.data()), what);
    return blob;
  }

  const char* (*error_text)(Result);
  Result (*version)(int*, int*);
  Result (*arch_count)(int*);
  Result (*archs)(int*);
  Result (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  Result (*destroy)(Program*);
  Result (*compile)(Program, int, const char* const*);
  Result (*log_size)(Program, size_t*);
  Result (*log)(Program, char*);
  Result (*ptx_size)(Program, size_t*);
  Result (*ptx)(Program, char*);
  Result (*cubin_size)(Program, size_t*);
  Result (*cubin)(Program, char*);
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

  Result run(const std::vector<std::string>& options) {
    std::vector<const char*> texts;
    for (const std::string& option : options) texts.push_back(option.c_str());
    return functions_.compile(program_, static_cast<int>(texts.size()), texts.data());
  }
  std::string log() const { return text(functions_.log_size, functions_.log, "read log"); }
  std::string ptx() const { return text(functions_.ptx_size, functions_.ptx, "read PTX"); }
  std::string cubin() const { return functions_.read(program_, functions_.cubin_size, functions_.cubin, "read cubin"); }

 private:
  /// Without the zero bytes at its end, which NVRTC counts.
  std::string text(Result (*size)(Program, size_t*), Result (*get)(Program, char*), const char* what) const {
    std::string read = functions_.read(program_, size, get, what);
    while (!read.empty() && read.back() == '\0') read.pop_back();
    return read;
  }

  const Functions& functions_;
  Program program_ = nullptr;
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
        functions_(library_) {
    int major = 0, minor = 0, count = 0;
    functions_.check(functions_.version(&major, &minor), "version");
    version_ = fmt::format("NVRTC {}.{} ({})", major, minor, library_.build());
    functions_.check(functions_.arch_count(&count), "number of architectures");
    std::vector<int> numbers(count);
    functions_.check(functions_.archs(numbers.data()), "architectures");
    for (const int number : numbers) archs_.push_back(fmt::format("sm_{}", number));
  }

  std::string version() const override { return version_; }
  GpuVendor vendor() const override { return GpuVendor::Cuda; }
  const std::vector<std::string>& archs() const override { return archs_; }

 protected:
  DeviceCode build(const DeviceSource& source, const GpuTarget& target, const DeviceOptions& options) const override {
    refuse_environment("NVRTC", {"NVRTC_APPEND_FLAGS", "NVRTC_PREPEND_FLAGS"});
    Compilation compilation(functions_, source);
    const Result result = compilation.run(options_of(target, options));
    DeviceCode code;
    code.log = compilation.log();
    if (result != 0) {
      throw ToolchainError(fmt::format("NVRTC refuses the source for {} ({}): {}", target.to_string(),
                                       functions_.error_text(result), first_error(source, code.log)),
                           code.log);
    }
    code.ptx = compilation.ptx();
    if (options.ptx_only) return code;
    code.binary = compilation.cubin();
    code.kernels = ptxas_figures(code.log);
    return code;
  }

 private:
  VendorLibrary library_;
  Functions functions_;
  std::string version_;
  std::vector<std::string> archs_;
};

}  // namespace

std::unique_ptr<const DeviceCompiler> open_nvrtc() { return std::make_unique<Nvrtc>(); }

}  // namespace heddle::jit
