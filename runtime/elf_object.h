// A bounds-checked view of an ELF64 x86-64 relocatable object: sections, symbols and relocations, nothing trusted.
#pragma once
#include <elf.h>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime {

/// Every read is checked against the file; whatever leaves it is a RuntimeError.
class ElfObject {
 public:
  /// Checks the header and that every section lies in the file. `bytes` must outlive the view and need not be aligned.
  explicit ElfObject(std::string_view bytes);

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const Elf64_Shdr& section(uint64_t index) const;
  std::string section_name(const Elf64_Shdr& section) const;
  /// The bytes of a section in the file; empty for SHT_NOBITS.
  std::string_view contents(const Elf64_Shdr& section) const;

  /// Entries of a table section (SHT_SYMTAB, SHT_RELA) of T.
  template <typename T>
  std::vector<T> table(const Elf64_Shdr& section) const {
    const std::string_view raw = contents(section);
    if (raw.size() % sizeof(T) != 0) fail("a table has a wrong size");
    std::vector<T> entries(raw.size() / sizeof(T));
    if (!raw.empty()) std::memcpy(entries.data(), raw.data(), raw.size());
    return entries;
  }
  /// The zero-terminated text at `offset` of a string table section.
  std::string_view text(const Elf64_Shdr& strings, uint64_t offset) const;

  [[noreturn]] static void fail(const std::string& what);

 private:
  std::string_view slice(uint64_t offset, uint64_t size) const;

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  uint64_t names_ = 0;
};

}  // namespace heddle::runtime
