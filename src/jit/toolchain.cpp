#include "src/jit/toolchain.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>

#include "heddle/error.h"

namespace heddle::jit {
namespace {

/// LLVM's own registry of targets, filled once a process.
void register_all() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
}

void register_x86() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

/// The processor whose instructions are pinned.
const char* processor(CpuLevel level) {
  switch (level) {
    case CpuLevel::Aarch64: return "generic";
    case CpuLevel::X86_64: return "x86-64";
    case CpuLevel::Avx2: return "x86-64-v3";
    case CpuLevel::Avx512: break;
  }
  return "x86-64-v4";
}

std::unique_ptr<llvm::TargetMachine> machine(const Target& target, int codegen_level) {
  const bool arm = target.level == CpuLevel::Aarch64;
  arm ? register_all() : register_x86();
  const std::string triple = arm ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu";
  std::string complaint;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, complaint);
  if (!found) {
    throw ToolchainError("this LLVM has no code generator for " + target.to_string() + "; install a full LLVM 19 (Debian: llvm-19-dev)", complaint);
  }
  const char* cpu = processor(target.level);
  const llvm::CodeGenOptLevel level = llvm::CodeGenOpt::getLevel(codegen_level).value_or(llvm::CodeGenOptLevel::Default);
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(triple, cpu, target.features(), {}, llvm::Reloc::PIC_,
                                                                          llvm::CodeModel::Small, level));
  if (!machine) throw ToolchainError("LLVM cannot generate code for " + target.to_string());
  return machine;
}

/// Keeps what LLVM complains about, which would end the process otherwise.
class Complaints : public llvm::DiagnosticHandler {
 public:
  explicit Complaints(std::string& errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(errors_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream << '\n';
    return true;
  }

 private:
  std::string& errors_;
};

/// Writes the code to a new file among the temporary ones; gives its name, or why there is none.
std::string kept(const codegen::SourceUnit& unit) {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "heddle-refused-XXXXXX.ll").string();
  const int file = error ? -1 : mkstemps(path.data(), 3);
  if (file < 0) return "not kept: no temporary file can be made";
  llvm::raw_fd_ostream stream(file, true);
  stream << codegen::print(unit);
  stream.close();
  if (!stream.has_error()) return path;
  stream.clear_error();
  return "not kept: " + path + " cannot be written";
}

[[noreturn]] void refused(const codegen::SourceUnit& unit, std::string complaints) {
  while (complaints.ends_with('\n')) complaints.pop_back();
  throw ToolchainError("LLVM refuses to compile " + (unit.origin.empty() ? unit.symbol : unit.origin) + "\ngenerated code: " + kept(unit), complaints);
}

std::string generate(codegen::SourceUnit unit, llvm::CodeGenFileType kind, int codegen_level) {
  const std::unique_ptr<llvm::TargetMachine> generator = machine(unit.target, codegen_level);
  unit.module->setDataLayout(generator->createDataLayout());
  unit.module->setTargetTriple(generator->getTargetTriple().str());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (generator->addPassesToEmitFile(passes, stream, nullptr, kind)) {
    throw ToolchainError("LLVM cannot write this kind of file for " + unit.target.to_string());
  }
  std::string complaints;
  unit.context->setDiagnosticHandler(std::make_unique<Complaints>(complaints));
  passes.run(*unit.module);
  unit.context->setDiagnosticHandler(nullptr);
  if (!complaints.empty()) refused(unit, complaints);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace

std::string compile(codegen::SourceUnit unit, int codegen_level) {
  return generate(std::move(unit), llvm::CodeGenFileType::ObjectFile, codegen_level);
}

std::string assembly(codegen::SourceUnit unit) {
  return generate(std::move(unit), llvm::CodeGenFileType::AssemblyFile, kCodegenLevel);
}

}  // namespace heddle::jit
