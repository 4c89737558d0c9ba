#include "src/jit/clang_device.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/TargetParser/TargetParser.h>

#include "heddle/error.h"
#include "src/jit/clang/clang_entry.h"
#include "src/jit/vendor_library.h"

namespace heddle::jit {

namespace {

/// The folder of the library or program that holds this function, with a slash at its end.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&open_clang_device), &info) == 0 || !info.dli_fname) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::vector<std::string> known_archs() {
  llvm::SmallVector<llvm::StringRef, 64> names;
  llvm::AMDGPU::fillValidArchListAMDGCN(names);
  std::vector<std::string> archs;
  for (const llvm::StringRef name : names) {
    if (name.starts_with("gfx")) archs.push_back(name.str());
  }
  return archs;
}

class ClangDevice : public DeviceCompiler {
 public:
  ClangDevice()
      : library_("clang 19 as a library", {own_folder() + HEDDLE_CLANG_LIBRARY, own_folder() + "../lib/" HEDDLE_CLANG_LIBRARY},
                 "build Heddle with libclang-19-dev, libclang-cpp19-dev and liblld-19-dev, and keep " HEDDLE_CLANG_LIBRARY
                 " beside it"),
        entry_(*library_.function<const ClangEntry* (*)()>(kClangEntry)()),
        archs_(known_archs()) {}

  std::string version() const override { return fmt::format("{} with lld ({})", entry_.version, library_.build()); }
  GpuVendor vendor() const override { return GpuVendor::Hip; }
  const std::vector<std::string>& archs() const override { return archs_; }

 protected:
  DeviceCode build(const DeviceSource& source, const GpuTarget& target, const DeviceOptions&) const override {
    refuse_environment("lld", {"LLD_REPRODUCE"});
    DeviceCode code;
    if (!entry_.compile(source.text, source.name, target.arch, &code.binary, &code.log)) {
      throw ToolchainError(
          fmt::format("{} refuses the source for {}: {}", entry_.version, target.to_string(), first_error(source, code.log)),
          code.log);
    }
    code.kernels = code_object_figures(code.binary);
    return code;
  }

 private:
  VendorLibrary library_;
  const ClangEntry& entry_;
  std::vector<std::string> archs_;
};

}  // namespace

std::unique_ptr<const DeviceCompiler> open_clang_device() { return std::make_unique<ClangDevice>(); }

}  // namespace heddle::jit
