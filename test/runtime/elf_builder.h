// Builds small relocatable objects byte by byte, legal or broken on purpose, for the tests of the object loader.
#pragma once
#include <elf.h>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace heddle::runtime {

class ElfBuilder {
 public:
  ElfBuilder() { add_section("", SHT_NULL, 0, ""), add_symbol("", 0, 0); }

  /// Index of the new section.
  uint16_t add_section(const std::string& name, uint32_t type, uint64_t flags, const std::string& bytes, uint64_t alignment = 16) {
    Elf64_Shdr header{};
    header.sh_name = intern(section_names_, name);
    header.sh_type = type, header.sh_flags = flags, header.sh_addralign = alignment, header.sh_size = bytes.size();
    sections_.push_back({header, bytes});
    return static_cast<uint16_t>(sections_.size() - 1);
  }
  uint16_t add_code(const std::string& bytes) { return add_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, bytes); }
  uint16_t add_constants(const std::string& bytes) { return add_section(".rodata", SHT_PROGBITS, SHF_ALLOC, bytes); }

  uint32_t add_symbol(const std::string& name, uint16_t section, uint64_t value) {
    Elf64_Sym symbol{};
    symbol.st_name = intern(symbol_names_, name);
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), symbol.st_shndx = section, symbol.st_value = value;
    symbols_.push_back(symbol);
    return static_cast<uint32_t>(symbols_.size() - 1);
  }

  void relocate(uint16_t section, uint64_t offset, uint32_t kind, uint32_t symbol, int64_t addend) {
    relocations_.push_back({section, {offset, ELF64_R_INFO(uint64_t{symbol}, kind), addend}});
  }

  std::string build() const {
    ElfBuilder whole = *this;
    whole.add_tables();
    return whole.serialize();
  }

 private:
  struct Section {
    Elf64_Shdr header;
    std::string bytes;
  };
  struct Relocation {
    uint16_t section;
    Elf64_Rela entry;
  };

  static uint32_t intern(std::string& table, const std::string& name) {
    const auto at = static_cast<uint32_t>(table.size());
    table += name + '\0';
    return at;
  }

  template <typename T>
  static void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void add_tables() {
    std::string symbols;
    for (const Elf64_Sym& symbol : symbols_) append(symbols, symbol);
    const uint16_t names = add_section(".strtab", SHT_STRTAB, 0, symbol_names_, 1);
    const uint16_t table = add_section(".symtab", SHT_SYMTAB, 0, symbols, 8);
    sections_[table].header.sh_link = names;
    for (const Relocation& one : relocations_) {
      std::string bytes;
      append(bytes, one.entry);
      const uint16_t rela = add_section(".rela", SHT_RELA, 0, bytes, 8);
      sections_[rela].header.sh_link = table, sections_[rela].header.sh_info = one.section;
    }
    const uint16_t own = add_section(".shstrtab", SHT_STRTAB, 0, "", 1);
    sections_[own].bytes = section_names_, sections_[own].header.sh_size = section_names_.size();
  }

  std::string serialize() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB, header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL, header.e_machine = EM_X86_64, header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header, header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(sections_.size()), header.e_shstrndx = static_cast<uint16_t>(sections_.size() - 1);
    header.e_shoff = sizeof header;
    std::string headers, bodies;
    for (Section& section : sections_) {
      section.header.sh_offset = sizeof header + sections_.size() * sizeof(Elf64_Shdr) + bodies.size();
      append(headers, section.header);
      if (section.header.sh_type != SHT_NOBITS) bodies += section.bytes;
    }
    std::string file;
    append(file, header);
    return file + headers + bodies;
  }

  std::vector<Section> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::vector<Relocation> relocations_;
  std::string section_names_, symbol_names_;
};

}  // namespace heddle::runtime
