// A vendor's shared library, opened at run time, with what tells one build of it from another.
#pragma once
#include <string>
#include <vector>

namespace heddle::jit {

/// An open library. It stays open for the life of the process: such libraries start threads and register exit handlers.
class VendorLibrary {
 public:
  /// Opens the first of `names` that dlopen finds: plain names on the loader's path, names with a slash as they are. Throws
  /// ToolchainError
  /// "<product> not found; <install>", with one line of log for each name tried.
  VendorLibrary(const std::string& product, const std::vector<std::string>& names, const std::string& install);

  /// The function; throws ToolchainError naming library and symbol when it lacks one.
  template <typename Function>
  Function function(const char* symbol) const {
    return reinterpret_cast<Function>(address(symbol));
  }
  bool has(const char* symbol) const;
  const std::string& path() const { return path_; }
  /// GNU build id of the loaded file in hex, else its size in bytes: for cache keys.
  std::string build() const;

 private:
  void* address(const char* symbol) const;

  std::string product_, path_;
  void* handle_ = nullptr;
};

/// Throws ToolchainError when one of the environment variables is set: they change what `product` compiles, unseen by options
/// and cache keys.
void refuse_environment(const std::string& product, const std::vector<const char*>& variables);

}  // namespace heddle::jit
