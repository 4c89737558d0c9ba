// Links kernel objects into this process through LLVM's ORC.
#pragma once
#include <memory>
#include <string>
#include "heddle/kernel_abi.h"

namespace heddle::jit {

/// Linked code; freed with the last owner.
struct LinkedKernel {
  std::shared_ptr<const void> owner;
  AttentionKernel entry = nullptr;
};

/// One ORC session; its kernels keep it alive. Thread safe.
class Linker {
 public:
  Linker();
  ~Linker();
  /// Links `object` and looks `symbol` up. Objects may import nothing but memcpy, memmove and memset. Throws ToolchainError.
  LinkedKernel link(const std::string& object, const std::string& symbol);

 private:
  struct Session;
  std::shared_ptr<Session> session_;
};

}  // namespace heddle::jit
