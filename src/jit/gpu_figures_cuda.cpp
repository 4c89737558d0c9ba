#include <fmt/format.h>
#include <llvm/Object/ELF.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <regex>
#include <utility>

#include "heddle/error.h"
#include "src/jit/gpu_figures.h"

namespace heddle::jit {

namespace {

using Elf = llvm::object::ELFFile<llvm::object::ELF64LE>;

constexpr uint16_t kCudaMachine = 190;  // EM_CUDA
constexpr size_t kInstructionBytes = 16;
constexpr uint16_t kOpcodeMask = 0xfff;
constexpr uint8_t kRegisterCount = 0x2f;  // EIATTR_REGCOUNT: symbol index, count
constexpr uint8_t kSizedAttribute = 4;    // EIFMT_SVAL
constexpr uint8_t kZeroRegister = 255;    // RZ

struct Named {
  uint16_t opcode;
  const char* name;
};

/// Opcodes of sm_80 to sm_120, checked on nvdisasm of CUDA 13.
constexpr std::array kSassNames = {
    Named{0x23c, "HMMA"}, Named{0x83b, "LDSM"}, Named{0xfae, "LDGSTS"}, Named{0x983, "LDL"},  Named{0x387, "STL"},
    Named{0x981, "LDG"},  Named{0x986, "STG"},  Named{0x984, "LDS"},    Named{0x388, "STS"},  Named{0x988, "STS"},
    Named{0x308, "MUFU"}, Named{0xf89, "SHFL"}, Named{0x389, "SHFL"},   Named{0x989, "SHFL"}, Named{0x589, "SHFL"},
    Named{0xb1d, "BAR"},  Named{0x223, "FFMA"}, Named{0x823, "FFMA"},   Named{0x423, "FFMA"}, Named{0xc23, "FFMA"},
    Named{0x947, "BRA"},  Named{0x547, "BRA"},  Named{0x94d, "EXIT"},   Named{0x918, "NOP"},
};

std::string sass_name(uint16_t opcode) {
  for (const Named& named : kSassNames) {
    if (named.opcode == opcode) return named.name;
  }
  return fmt::format("0x{:03x}", opcode);
}

template <typename T>
T value_or_throw(llvm::Expected<T> value, const char* what) {
  if (value) return *value;
  throw ToolchainError(fmt::format("the cubin is damaged: {}", what), llvm::toString(value.takeError()));
}

Elf open_cubin(const std::string& cubin) {
  const Elf elf = value_or_throw(Elf::create(cubin), "no ELF file");
  if (elf.getHeader().e_machine != kCudaMachine)
    throw ToolchainError(fmt::format("no cubin: ELF machine {}", int{elf.getHeader().e_machine}));
  return elf;
}

uint64_t word_at(llvm::ArrayRef<uint8_t> bytes, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

std::map<std::string, int> count_opcodes(llvm::ArrayRef<uint8_t> text) {
  std::map<std::string, int> counts;
  for (size_t at = 0; at + kInstructionBytes <= text.size(); at += kInstructionBytes) {
    const uint64_t word = word_at(text, at);
    const std::string name = sass_name(word & kOpcodeMask);
    const uint8_t destination = word >> 16 & 0xff;
    if (name == "LDS" && destination == kZeroRegister) continue;
    ++counts[name];
  }
  return counts;
}

/// Symbol index -> registers, from a section .nv.info: attributes of format (1), number (1), size or value (2), and `size`
/// bytes.
std::map<uint32_t, int> register_counts(llvm::ArrayRef<uint8_t> info) {
  std::map<uint32_t, int> counts;
  for (size_t at = 0; at + 4 <= info.size();) {
    const uint8_t format = info[at], attribute = info[at + 1];
    const size_t size = format == kSizedAttribute ? info[at + 2] | info[at + 3] << 8 : 0;
    if (at + 4 + size > info.size()) break;
    if (attribute == kRegisterCount && size == 8) {
      const uint64_t pair = word_at(info, at + 4);
      counts[static_cast<uint32_t>(pair)] = static_cast<int>(pair >> 32);
    }
    at += 4 + size;
  }
  return counts;
}

/// The sections of a cubin by name.
std::vector<std::pair<std::string, llvm::ArrayRef<uint8_t>>> sections_of(const Elf& elf) {
  std::vector<std::pair<std::string, llvm::ArrayRef<uint8_t>>> sections;
  for (const auto& section : value_or_throw(elf.sections(), "sections")) {
    if (section.sh_type == llvm::ELF::SHT_NOBITS) continue;
    sections.emplace_back(value_or_throw(elf.getSectionName(section), "a section's name").str(),
                          value_or_throw(elf.getSectionContents(section), "a section's contents"));
  }
  return sections;
}

/// Kernel name -> registers.
std::map<std::string, int> registers_by_name(const Elf& elf) {
  std::map<uint32_t, int> counts;
  for (const auto& [name, contents] : sections_of(elf)) {
    if (name == ".nv.info") counts = register_counts(contents);
  }
  std::map<std::string, int> registers;
  for (const auto& section : value_or_throw(elf.sections(), "sections")) {
    if (section.sh_type != llvm::ELF::SHT_SYMTAB) continue;
    const auto strings = value_or_throw(elf.getStringTableForSymtab(section), "names of symbols");
    const auto symbols = value_or_throw(elf.symbols(&section), "symbols");
    for (const auto& [index, count] : counts) {
      if (index < symbols.size()) registers[value_or_throw(symbols[index].getName(strings), "a symbol's name").str()] = count;
    }
  }
  return registers;
}

int number(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? std::stoi(match[1]) : 0;
}

KernelFigures figures_of(const std::string& name, const std::string& text) {
  if (text.find("Used ") == std::string::npos) throw ToolchainError("the log of ptxas tells no registers of " + name, text);
  KernelFigures figures;
  figures.name = name;
  figures.registers = number(text, R"(Used (\d+) registers)");
  figures.spills = number(text, R"((\d+) bytes spill stores)") + number(text, R"((\d+) bytes spill loads)");
  figures.stack_bytes = number(text, R"((\d+) bytes stack frame)");
  figures.shared_bytes = number(text, R"((\d+) bytes smem)");
  return figures;
}

bool is_opcode(std::string_view word) { return !word.empty() && word[0] >= 'a' && word[0] <= 'z' && word.back() != ':'; }

/// The opcode of a line of PTX: its first word after scope, guard and blanks; empty for labels and directives.
std::string_view opcode_of(std::string_view line) {
  const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size())); };
  skip_blanks();
  if (line.starts_with('@')) line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
  skip_blanks();
  const std::string_view word = line.substr(0, line.find_first_of(" \t;"));
  return is_opcode(word) ? word : std::string_view();
}

/// The kernel that a line `.visible .entry name(` begins, or empty.
std::string entry_of(std::string_view line) {
  const size_t at = line.find(".entry ");
  if (at == std::string_view::npos) return {};
  const std::string_view name = line.substr(at + 7);
  return std::string(name.substr(0, name.find_first_of(" (\t")));
}

/// Statements of a line: inline assembly may hold several.
std::vector<std::string_view> statements(std::string_view line) {
  std::vector<std::string_view> parts;
  line = line.substr(0, line.find("//"));
  for (size_t end = line.find(';'); end != std::string_view::npos; end = line.find(';')) {
    parts.push_back(line.substr(0, end + 1));
    line.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace

std::vector<KernelFigures> ptxas_figures(std::string_view log) {
  static const std::regex entry(R"(Compiling entry function '([^']+)')");
  const std::string text(log);
  std::vector<KernelFigures> kernels;
  for (std::sregex_iterator at(text.begin(), text.end(), entry), end; at != end; ++at) {
    const size_t begin = at->position(), next = text.find("Compiling entry function", begin + 1);
    kernels.push_back(figures_of((*at)[1], text.substr(begin, next - begin)));
  }
  return kernels;
}

int OpcodeCounts::total() const {
  return std::accumulate(opcodes.begin(), opcodes.end(), 0, [](int sum, const auto& entry) { return sum + entry.second; });
}

int OpcodeCounts::count(const std::vector<std::string>& prefixes) const {
  int sum = 0;
  for (const auto& [opcode, times] : opcodes) {
    if (std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) { return opcode.starts_with(prefix); }))
      sum += times;
  }
  return sum;
}

std::vector<OpcodeCounts> sass_opcodes(const std::string& cubin) {
  static constexpr std::string_view kText = ".text.";
  const Elf elf = open_cubin(cubin);
  std::map<std::string, int> registers = registers_by_name(elf);
  std::vector<OpcodeCounts> kernels;
  for (const auto& [name, contents] : sections_of(elf)) {
    if (!name.starts_with(kText)) continue;
    const std::string kernel = name.substr(kText.size());
    kernels.push_back({kernel, registers[kernel], count_opcodes(contents)});
  }
  return kernels;
}

int local_accesses(const OpcodeCounts& sass) { return sass.count({"LDL", "STL"}); }

std::vector<OpcodeCounts> ptx_opcodes(std::string_view ptx) {
  std::vector<OpcodeCounts> kernels;
  while (!ptx.empty()) {
    const std::string_view line = ptx.substr(0, ptx.find('\n'));
    ptx.remove_prefix(std::min(line.size() + 1, ptx.size()));
    if (const std::string entry = entry_of(line); !entry.empty()) kernels.push_back({entry, 0, {}});
    if (kernels.empty()) continue;
    for (const std::string_view statement : statements(line)) {
      const std::string_view opcode = opcode_of(statement);
      if (!opcode.empty()) ++kernels.back().opcodes[std::string(opcode)];
    }
  }
  return kernels;
}

}  // namespace heddle::jit
