#include "src/jit/clang/clang_entry.h"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>

LLD_HAS_DRIVER(elf)

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
}

namespace heddle::jit {

namespace {

void register_amdgpu() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeX86TargetInfo();  // the host's types, which HIP mode asks for
  });
}

/// Options of clang's own front end; no search path of headers, no driver, so nothing of the environment.
std::vector<const char*> front_end_options(const std::string& name, const std::string& arch) {
  return {"-triple",
          "amdgcn-amd-amdhsa",
          "-aux-triple",
          "x86_64-pc-linux-gnu",
          "-target-cpu",
          arch.c_str(),
          "-O3",
          "-std=c++17",
          "-fcuda-is-device",
          "-nostdsysteminc",
          "-nobuiltininc",
          "-fvisibility=hidden",
          "-fapply-global-visibility-to-externs",
          "-mcode-object-version=5",
          "-emit-obj",
          "-x",
          "hip",
          name.c_str()};
}

/// Relocatable object of the text, or empty.
std::string compile_object(const std::string& text, const std::string& name, const std::string& arch, llvm::raw_ostream& log) {
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(log, options.get());
  clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs, options, &printer, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, front_end_options(name, arch), diagnostics)) return {};
  invocation->getPreprocessorOpts().addRemappedFile(name, llvm::MemoryBuffer::getMemBufferCopy(text, name).release());
  clang::CompilerInstance instance;
  instance.setInvocation(invocation);
  instance.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
  llvm::SmallVector<char, 0> bytes;
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(bytes));
  clang::EmitObjAction action;
  if (!instance.ExecuteAction(action)) return {};
  return std::string(bytes.data(), bytes.size());
}

/// A folder of this process alone, removed with the object: lld reads and writes files.
class PrivateFolder {
 public:
  PrivateFolder() { failure_ = llvm::sys::fs::createUniqueDirectory("heddle-link", path_); }
  ~PrivateFolder() {
    if (!failure_) llvm::sys::fs::remove_directories(path_);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  std::error_code failure() const { return failure_; }
  std::string file(const char* name) const { return (path_ + "/" + name).str(); }

 private:
  llvm::SmallString<128> path_;
  std::error_code failure_;
};

bool write(const std::string& path, const std::string& bytes) {
  std::error_code failure;
  llvm::raw_fd_ostream file(path, failure);
  if (failure) return false;
  file << bytes;
  file.close();
  return !file.has_error();
}

/// Linked code object; lld keeps globals, so one link at a time.
bool link(const std::string& relocatable, std::string& object, llvm::raw_ostream& log) {
  static std::mutex one_at_a_time;
  std::lock_guard lock(one_at_a_time);
  const PrivateFolder folder;
  if (folder.failure()) {
    log << "cannot make a temporary folder: " << folder.failure().message() << "\n";
    return false;
  }
  const std::string input = folder.file("kernel.o"), output = folder.file("kernel.co");
  if (!write(input, relocatable)) {
    log << "cannot write " << input << "\n";
    return false;
  }
  const std::vector<const char*> options = {"ld.lld",      "-shared", "--no-undefined", "--threads=1",
                                            input.c_str(), "-o",      output.c_str()};
  std::string said;
  llvm::raw_string_ostream stream(said);
  const lld::Result result = lld::lldMain(options, stream, stream, {{lld::Gnu, &lld::elf::link}});
  log << stream.str();
  const auto file = llvm::MemoryBuffer::getFile(output);
  if (result.retCode != 0 || !file) return false;
  object = (*file)->getBuffer().str();
  return true;
}

bool compile(const std::string& text, const std::string& name, const std::string& arch, std::string* object, std::string* log) {
  register_amdgpu();
  llvm::raw_string_ostream stream(*log);
  const std::string relocatable = compile_object(text, name, arch, stream);
  return !relocatable.empty() && link(relocatable, *object, stream);
}

}  // namespace

}  // namespace heddle::jit

extern "C" __attribute__((visibility("default"))) const heddle::jit::ClangEntry* heddle_clang_device_v1() {
  static const std::string version = clang::getClangFullVersion();
  static const heddle::jit::ClangEntry entry = {version.c_str(), &heddle::jit::compile};
  return &entry;
}
