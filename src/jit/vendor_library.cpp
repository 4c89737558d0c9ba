#include "src/jit/vendor_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "heddle/error.h"

namespace heddle::jit {

namespace {

struct Wanted {
  ElfW(Addr) base;
  std::string id;
};

/// The description of the note NT_GNU_BUILD_ID in a segment of notes, in hex.
std::string build_id(const char* notes, size_t size) {
  const auto aligned = [](size_t value) { return (value + 3) & ~size_t{3}; };
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const size_t text = at + sizeof note + aligned(note.n_namesz), next = text + aligned(note.n_descsz);
    if (next > size) break;
    if (note.n_type == NT_GNU_BUILD_ID) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(notes + text);
      return fmt::format("{:02x}", fmt::join(bytes, bytes + note.n_descsz, ""));
    }
    at = next;
  }
  return {};
}

int visit(dl_phdr_info* info, size_t, void* data) {
  auto& wanted = *static_cast<Wanted*>(data);
  if (info->dlpi_addr != wanted.base) return 0;
  for (int i = 0; i < info->dlpi_phnum && wanted.id.empty(); ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_NOTE)
      wanted.id = build_id(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  return 1;
}

const link_map& map_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) throw ToolchainError("dlinfo failed", dlerror());
  return *map;
}

}  // namespace

VendorLibrary::VendorLibrary(const std::string& product, const std::vector<std::string>& names, const std::string& install)
    : product_(product) {
  std::string log;
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) break;
    log += fmt::format("{}: {}\n", name, dlerror());
  }
  if (!handle_) throw ToolchainError(fmt::format("{} not found; {}", product, install), log);
  path_ = map_of(handle_).l_name;
}

bool VendorLibrary::has(const char* symbol) const { return dlsym(handle_, symbol) != nullptr; }

void* VendorLibrary::address(const char* symbol) const {
  void* found = dlsym(handle_, symbol);
  if (!found) throw ToolchainError(fmt::format("{} ({}) has no function {}; install a newer one", product_, path_, symbol));
  return found;
}

std::string VendorLibrary::build() const {
  Wanted wanted{map_of(handle_).l_addr, {}};
  dl_iterate_phdr(visit, &wanted);
  if (!wanted.id.empty()) return wanted.id;
  std::error_code failure;
  const auto size = std::filesystem::file_size(path_, failure);
  return failure ? "unknown build" : fmt::format("{} bytes", size);
}

void refuse_environment(const std::string& product, const std::vector<const char*>& variables) {
  for (const char* variable : variables) {
    const char* value = std::getenv(variable);
    if (!value || !*value) continue;
    throw ToolchainError(fmt::format("the environment variable {} is '{}' and would change unseen what {} compiles; unset it",
                                     variable, value, product));
  }
}

}  // namespace heddle::jit
