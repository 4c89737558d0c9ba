#include "runtime/object_loader.h"
#include <fmt/format.h>
#include <sys/mman.h>
#include <cerrno>
#include <limits>
#include <vector>
#include "heddle/error.h"
#include "runtime/elf_object.h"
#include "src/support/text.h"

namespace heddle::runtime {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxImage = uint64_t{64} << 20;  ///< Far above any kernel; keeps every distance within 32 bits.
constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// An anonymous mapping, unmapped on destruction.
class Pages {
 public:
  explicit Pages(uint64_t size) : size_(size) {
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw RuntimeError(fmt::format("cannot map {} bytes for a kernel: {}", size, strerror(errno)));
    base_ = static_cast<char*>(base);
  }
  ~Pages() { munmap(base_, size_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  char* base() const { return base_; }
  void protect(uint64_t first, uint64_t last, int protection) const {
    if (first < last && mprotect(base_ + first, last - first, protection) != 0) {
      throw RuntimeError(fmt::format("cannot protect the pages of a kernel: {}", strerror(errno)));
    }
  }

 private:
  char* base_ = nullptr;
  uint64_t size_;
};

/// Where every section goes: code pages first, read-only data behind them.
struct Layout {
  std::vector<uint64_t> at;  ///< By section; kNowhere when it is not loaded.
  uint64_t code_end = 0, end = 0;
};

bool is_code(const Elf64_Shdr& section) { return section.sh_flags & SHF_EXECINSTR; }

void check_loadable(const ElfObject& object, const Elf64_Shdr& section) {
  const uint64_t alignment = section.sh_addralign;
  if (section.sh_flags & (SHF_WRITE | SHF_TLS) && section.sh_size != 0) {
    ElfObject::fail(fmt::format("section {} is writable; kernels have code and constants only", object.section_name(section)));
  }
  if ((alignment & (alignment - 1)) != 0 || alignment > kPage) ElfObject::fail("a section has an impossible alignment");
  if (section.sh_size > kMaxImage) ElfObject::fail("a section is larger than any kernel");
}

void place(const ElfObject& object, bool code, Layout& layout) {
  for (size_t i = 0; i < object.sections().size(); ++i) {
    const Elf64_Shdr& section = object.sections()[i];
    if (!(section.sh_flags & SHF_ALLOC) || is_code(section) != code) continue;
    check_loadable(object, section);
    layout.at[i] = round_up(layout.end, std::max<uint64_t>(1, section.sh_addralign));
    layout.end = layout.at[i] + section.sh_size;
    if (layout.end > kMaxImage) ElfObject::fail("it is larger than any kernel");
  }
  layout.end = round_up(layout.end, kPage);
}

Layout layout_of(const ElfObject& object) {
  Layout layout;
  layout.at.assign(object.sections().size(), kNowhere);
  place(object, true, layout);
  layout.code_end = layout.end;
  place(object, false, layout);
  if (layout.code_end == 0) ElfObject::fail("it has no code");
  return layout;
}

/// The object's sections copied to their pages, with the symbols resolved to addresses there.
class Image {
 public:
  explicit Image(const ElfObject& object) : object_(object), layout_(layout_of(object)), pages_(std::make_shared<Pages>(layout_.end)) {
    for (size_t i = 0; i < layout_.at.size(); ++i) {
      const std::string_view bytes = layout_.at[i] == kNowhere ? std::string_view() : object.contents(object.section(i));
      if (!bytes.empty()) std::memcpy(pages_->base() + layout_.at[i], bytes.data(), bytes.size());
    }
  }

  void relocate() const {
    for (const Elf64_Shdr& section : object_.sections()) {
      const bool relocations = section.sh_type == SHT_RELA || section.sh_type == SHT_REL;
      if (!relocations || layout_.at[checked(section.sh_info)] == kNowhere) continue;
      if (section.sh_type == SHT_REL) ElfObject::fail("it has relocations without addends");
      const Elf64_Shdr& symbols = object_.section(section.sh_link);
      const std::vector<Elf64_Sym> table = object_.table<Elf64_Sym>(symbols);
      for (const Elf64_Rela& one : object_.table<Elf64_Rela>(section)) apply(one, section.sh_info, symbols, table);
    }
  }

  /// Address of a function of this name, or null.
  void* find(std::string_view name) const {
    for (const Elf64_Shdr& section : object_.sections()) {
      if (section.sh_type != SHT_SYMTAB) continue;
      for (const Elf64_Sym& symbol : object_.table<Elf64_Sym>(section)) {
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE || symbol.st_name == 0) continue;
        if (object_.text(object_.section(section.sh_link), symbol.st_name) == name) return code_address(symbol);
      }
    }
    return nullptr;
  }

  std::shared_ptr<const void> seal() const {
    pages_->protect(0, layout_.code_end, PROT_READ | PROT_EXEC);
    pages_->protect(layout_.code_end, layout_.end, PROT_READ);
    return pages_;
  }

 private:
  uint64_t checked(uint64_t section) const { return object_.section(section), section; }

  void* code_address(const Elf64_Sym& symbol) const {
    const Elf64_Shdr& section = object_.section(symbol.st_shndx);
    const uint64_t at = layout_.at[symbol.st_shndx];
    if (at == kNowhere || !is_code(section) || symbol.st_value >= section.sh_size) ElfObject::fail("its entry is not in its code");
    return pages_->base() + at + symbol.st_value;
  }

  uint64_t value_of(const Elf64_Sym& symbol, const Elf64_Shdr& symbols) const {
    if (symbol.st_shndx == SHN_UNDEF) {
      const std::string_view name = object_.text(object_.section(symbols.sh_link), symbol.st_name);
      ElfObject::fail(fmt::format("it imports {}; kernels import nothing", support::quote(name)));
    }
    if (symbol.st_shndx >= SHN_LORESERVE) ElfObject::fail("it uses a symbol that is in no section");
    const uint64_t at = layout_.at[checked(symbol.st_shndx)];
    if (at == kNowhere || symbol.st_value > kMaxImage) ElfObject::fail("it uses a symbol outside its code and constants");
    return reinterpret_cast<uint64_t>(pages_->base()) + at + symbol.st_value;
  }

  void apply(const Elf64_Rela& one, uint64_t target, const Elf64_Shdr& symbols, const std::vector<Elf64_Sym>& table) const {
    const uint64_t kind = ELF64_R_TYPE(one.r_info), index = ELF64_R_SYM(one.r_info);
    if (kind == R_X86_64_NONE) return;
    if (kind != R_X86_64_PC32 && kind != R_X86_64_PLT32 && kind != R_X86_64_64) {
      ElfObject::fail(fmt::format("relocation kind {} is not supported (PC32, PLT32 and 64 are)", kind));
    }
    if (index >= table.size()) ElfObject::fail("a relocation names a symbol that does not exist");
    const uint64_t size = object_.section(target).sh_size, width = kind == R_X86_64_64 ? 8 : 4;
    if (size < width || one.r_offset > size - width) ElfObject::fail("a relocation leaves its section");
    char* where = pages_->base() + layout_.at[target] + one.r_offset;
    const uint64_t value = value_of(table[index], symbols) + static_cast<uint64_t>(one.r_addend);
    if (width == 8) return store(where, value);
    const int64_t distance = static_cast<int64_t>(value - reinterpret_cast<uint64_t>(where));
    if (distance != static_cast<int32_t>(distance)) ElfObject::fail("a relocation is out of reach");
    store(where, static_cast<int32_t>(distance));
  }

  template <typename T>
  static void store(char* where, T value) {
    std::memcpy(where, &value, sizeof value);
  }

  const ElfObject& object_;
  Layout layout_;
  std::shared_ptr<Pages> pages_;
};

}  // namespace

LoadedCode load_object(std::string_view object, const std::string& symbol) {
  const ElfObject elf(object);
  const Image image(elf);
  image.relocate();
  void* entry = image.find(symbol);
  if (!entry) ElfObject::fail(fmt::format("it has no function {}", support::quote(symbol)));
  return {image.seal(), entry};
}

}  // namespace heddle::runtime
