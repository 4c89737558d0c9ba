#include "src/engine/compiler.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <atomic>
#include <mutex>
#include "heddle/error.h"

namespace heddle::engine {

namespace {

using Factory = Compiler* (*)(const char* digest);

/// The one compiler of the process; it lives as long as the process, since code it linked may be used until the end.
std::atomic<Compiler*>& slot() {
  static std::atomic<Compiler*> compiler = nullptr;
  return compiler;
}

/// The folder of the library that holds this function.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&generator_digest), &info) == 0 || !info.dli_fname) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// The first library that opens; `log` gets a line for every try that failed.
void* open_library(std::string& log) {
  for (const std::string& path : {own_folder() + HEDDLE_COMPILER_LIBRARY, std::string(HEDDLE_COMPILER_LIBRARY)}) {
    if (void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) return library;
    log += fmt::format("{}: {}\n", path, dlerror());
  }
  return nullptr;
}

Compiler* load() {
  std::string log;
  void* library = open_library(log);
  if (!library) {
    throw ToolchainError("the compiler library " HEDDLE_COMPILER_LIBRARY
                         " cannot be opened; it belongs beside libheddle.so, and needs libLLVM 19 (Debian: libllvm19)",
                         log);
  }
  const auto factory = reinterpret_cast<Factory>(dlsym(library, kCompilerFactory));
  if (!factory) throw ToolchainError("the library " HEDDLE_COMPILER_LIBRARY " is not Heddle's compiler; install both libraries anew");
  Compiler* compiler = factory(generator_digest());
  if (!compiler) {
    throw ToolchainError("libheddle.so and " HEDDLE_COMPILER_LIBRARY " come from different builds; install both from one build");
  }
  return compiler;
}

}  // namespace

Compiler& compiler() {
  static std::mutex loading;
  if (Compiler* ready = slot().load()) return *ready;
  std::lock_guard lock(loading);
  if (!slot().load()) slot() = load();
  return *slot().load();
}

bool compiler_loaded() { return slot().load() != nullptr; }

}  // namespace heddle::engine
