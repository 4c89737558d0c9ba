#include "runtime/elf_object.h"
#include <fmt/format.h>
#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::runtime {

ElfObject::ElfObject(std::string_view bytes) : bytes_(bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, slice(0, sizeof header).data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) fail("it is not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64) {
    fail("it is not for x86-64");
  }
  if (header.e_type != ET_REL) fail("it is not relocatable");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) fail("its section headers have an unknown size");
  const std::string_view raw = slice(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  sections_.resize(header.e_shnum);
  if (!raw.empty()) std::memcpy(sections_.data(), raw.data(), raw.size());
  for (const Elf64_Shdr& one : sections_) {
    if (one.sh_type != SHT_NULL) contents(one);
  }
  names_ = header.e_shstrndx;
}

const Elf64_Shdr& ElfObject::section(uint64_t index) const {
  if (index >= sections_.size()) fail(fmt::format("it names section {} of {}", index, sections_.size()));
  return sections_[index];
}

std::string ElfObject::section_name(const Elf64_Shdr& one) const { return support::escape(text(section(names_), one.sh_name)); }

std::string_view ElfObject::contents(const Elf64_Shdr& one) const {
  return one.sh_type == SHT_NOBITS ? std::string_view() : slice(one.sh_offset, one.sh_size);
}

std::string_view ElfObject::text(const Elf64_Shdr& strings, uint64_t offset) const {
  const std::string_view all = contents(strings);
  const size_t end = offset < all.size() ? all.find('\0', offset) : std::string_view::npos;
  if (end == std::string_view::npos) fail("a name leaves its string table");
  return all.substr(offset, end - offset);
}

void ElfObject::fail(const std::string& what) { throw RuntimeError(fmt::format("kernel object cannot be loaded: {}", what)); }

std::string_view ElfObject::slice(uint64_t offset, uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) {
    fail(fmt::format("it is short: bytes {} + {} of {}", offset, size, bytes_.size()));
  }
  return bytes_.substr(offset, size);
}

}  // namespace heddle::runtime
