#include <fmt/format.h>
#include <llvm-c/Disassembler.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/Object/ELF.h>

#include <mutex>

#include "heddle/error.h"
#include "src/jit/gpu_figures.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace heddle::jit {

namespace {

using Elf = llvm::object::ELFFile<llvm::object::ELF64LE>;

constexpr const char* kTriple = "amdgcn-amd-amdhsa";

template <typename T>
T value_or_throw(llvm::Expected<T> value, const char* what) {
  if (value) return *value;
  throw ToolchainError(fmt::format("the AMD code object is damaged: {}", what), llvm::toString(value.takeError()));
}

Elf open_object(const std::string& object) {
  const Elf elf = value_or_throw(Elf::create(object), "no ELF file");
  if (elf.getHeader().e_machine != llvm::ELF::EM_AMDGPU) {
    throw ToolchainError(fmt::format("no AMD code object: ELF machine {}", int{elf.getHeader().e_machine}));
  }
  return elf;
}

/// The MessagePack map of the metadata note.
std::string metadata_of(const Elf& elf) {
  for (const auto& header : value_or_throw(elf.program_headers(), "program headers")) {
    if (header.p_type != llvm::ELF::PT_NOTE) continue;
    llvm::Error failure = llvm::Error::success();
    std::string found;
    for (const auto& note : elf.notes(header, failure)) {
      if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
        found = note.getDescAsStringRef(4).str();
    }
    if (failure) throw ToolchainError("the AMD code object is damaged: notes", llvm::toString(std::move(failure)));
    if (!found.empty()) return found;
  }
  throw ToolchainError("the AMD code object has no metadata note");
}

int number(llvm::msgpack::MapDocNode& kernel, const char* key) {
  const auto found = kernel.find(key);
  if (found == kernel.end()) return 0;
  if (found->second.getKind() == llvm::msgpack::Type::UInt) return static_cast<int>(found->second.getUInt());
  return found->second.getKind() == llvm::msgpack::Type::Int ? static_cast<int>(found->second.getInt()) : 0;
}

/// gfx90a and gfx942 have one file for both kinds of vector registers, and their count holds both.
bool counts_are_joined(const Elf& elf) {
  const unsigned machine = elf.getHeader().e_flags & llvm::ELF::EF_AMDGPU_MACH;
  return machine != llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX908;
}

KernelFigures figures_of(llvm::msgpack::MapDocNode& kernel, bool joined) {
  KernelFigures figures;
  figures.name = kernel[".name"].isString() ? kernel[".name"].getString().str() : std::string();
  figures.accumulation_registers = number(kernel, ".agpr_count");
  figures.registers = number(kernel, ".vgpr_count") + (joined ? 0 : figures.accumulation_registers);
  figures.spills = number(kernel, ".vgpr_spill_count") + number(kernel, ".sgpr_spill_count");
  figures.stack_bytes = number(kernel, ".private_segment_fixed_size");
  figures.shared_bytes = number(kernel, ".group_segment_fixed_size");
  return figures;
}

/// A disassembler of LLVM for one architecture.
class Disassembler {
 public:
  explicit Disassembler(const std::string& arch) {
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeAMDGPUTargetInfo();
      LLVMInitializeAMDGPUTargetMC();
      LLVMInitializeAMDGPUDisassembler();
    });
    context_ = LLVMCreateDisasmCPU(kTriple, arch.c_str(), nullptr, 0, nullptr, nullptr);
    if (!context_)
      throw ToolchainError("this LLVM has no disassembler for " + arch + "; install a full LLVM 19 (Debian: llvm-19-dev)");
  }
  ~Disassembler() { LLVMDisasmDispose(context_); }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  /// Counts mnemonics; what does not decode (padding behind the end of a kernel) counts as "?", four bytes each.
  std::map<std::string, int> count(llvm::ArrayRef<uint8_t> code) const {
    std::map<std::string, int> counts;
    for (size_t at = 0; at < code.size();) {
      char text[256];
      const size_t size =
          LLVMDisasmInstruction(context_, const_cast<uint8_t*>(code.data()) + at, code.size() - at, at, text, sizeof text);
      const std::string line = size == 0 ? std::string("?") : std::string(text);
      const size_t begin = line.find_first_not_of(" \t");
      if (begin != std::string::npos) ++counts[line.substr(begin, line.find_first_of(" \t", begin) - begin)];
      at += size == 0 ? 4 : size;
    }
    return counts;
  }

 private:
  LLVMDisasmContextRef context_ = nullptr;
};

/// Code of a function symbol, by its address and size.
llvm::ArrayRef<uint8_t> code_of(const Elf& elf, const llvm::object::ELF64LE::Sym& symbol) {
  const auto& section = *value_or_throw(elf.getSection(symbol.st_shndx), "a symbol's section");
  const llvm::ArrayRef<uint8_t> contents = value_or_throw(elf.getSectionContents(section), "code");
  const uint64_t offset = symbol.st_value - section.sh_addr;
  if (offset > contents.size() || symbol.st_size > contents.size() - offset)
    throw ToolchainError("the AMD code object is damaged: a symbol");
  return contents.slice(offset, symbol.st_size);
}

}  // namespace

std::vector<KernelFigures> code_object_figures(const std::string& object) {
  const Elf elf = open_object(object);
  const std::string metadata = metadata_of(elf);
  llvm::msgpack::Document document;
  if (!document.readFromBlob(metadata, false) || !document.getRoot().isMap())
    throw ToolchainError("the AMD code object's metadata is damaged");
  auto& list = document.getRoot().getMap()["amdhsa.kernels"];
  std::vector<KernelFigures> kernels;
  if (!list.isArray()) return kernels;
  for (auto& kernel : list.getArray()) {
    if (kernel.isMap()) kernels.push_back(figures_of(kernel.getMap(), counts_are_joined(elf)));
  }
  return kernels;
}

std::vector<OpcodeCounts> gcn_opcodes(const std::string& object, const std::string& arch) {
  const Elf elf = open_object(object);
  const Disassembler disassembler(arch);
  std::vector<OpcodeCounts> kernels;
  for (const auto& section : value_or_throw(elf.sections(), "sections")) {
    if (section.sh_type != llvm::ELF::SHT_DYNSYM) continue;
    const auto strings = value_or_throw(elf.getStringTableForSymtab(section), "names of symbols");
    for (const auto& symbol : value_or_throw(elf.symbols(&section), "symbols")) {
      if (symbol.getType() != llvm::ELF::STT_FUNC || symbol.st_shndx == llvm::ELF::SHN_UNDEF) continue;
      const std::string name = value_or_throw(symbol.getName(strings), "a symbol's name").str();
      kernels.push_back({name, 0, disassembler.count(code_of(elf, symbol))});
    }
  }
  return kernels;
}

}  // namespace heddle::jit
