// Makes a kernel object (ELF64 relocatable, x86-64) callable without LLVM: the warm path of the disk cache and of bundles.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace heddle::runtime {

/// Loaded code, unmapped with the last owner. Pages are writable or executable, never both.
struct LoadedCode {
  std::shared_ptr<const void> owner;
  void* entry = nullptr;
};

/// Loads `object` and resolves `symbol`. Handles allocated sections and PC32, PLT32 and 64-bit absolute relocations inside the object;
/// anything else (imports, other relocations, truncation) is a RuntimeError that names it. Every offset is bounds-checked.
LoadedCode load_object(std::string_view object, const std::string& symbol);

}  // namespace heddle::runtime
