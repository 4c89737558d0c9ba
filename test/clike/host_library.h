// C-like text compiled for this host by the compiler that built the tests, and loaded.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "src/codegen/clike/prelude.h"
#include "test/process.h"

namespace heddle::test {

/// Scalar types and builtins in front of arithmetic_prelude(): a lane is a thread of control.
inline const char* host_prelude() {
  return R"(#include <cmath>
typedef int i32; typedef unsigned u32; typedef long long i64; typedef unsigned long long u64;
typedef unsigned short u16; typedef unsigned char u8; typedef float f32;
typedef i32 vi32; typedef u32 vu32; typedef i64 vi64; typedef f32 vf32; typedef bool vbool;
#define HD_FN [[maybe_unused]] static inline
#define HD_INF __builtin_inff()
#define HD_LOWEST (-3.40282347e+38f)
HD_FN f32 exp2_approx(f32 x) { return std::exp2(x); }
HD_FN f32 log2_approx(f32 x) { return std::log2(x); }
HD_FN f32 square_root(f32 x) { return std::sqrt(x); }
HD_FN f32 fused_multiply_add(f32 a, f32 b, f32 c) { return std::fma(a, b, c); }
HD_FN vi32 ld_global_i32(const i32* base, vi64 index) { return base[index]; }
HD_FN vi64 ld_global_i64(const i64* base, vi64 index) { return base[index]; }
HD_FN vi32 ld_global_u8(const u8* base, vi64 index) { return base[index]; }
HD_FN vf32 ld_global_f32(const f32* base, vi64 index) { return base[index]; }
)";
}

/// A shared library made of `text`, which follows the preludes; its functions by name.
class HostLibrary {
 public:
  explicit HostLibrary(const std::string& text) {
    const std::string source = folder_ / "text.cpp", library = folder_ / "text.so", log = folder_ / "log";
    write_file(source, std::string(host_prelude()) + codegen::clike::arithmetic_prelude() + text);
    // Signed overflow traps: what may wrap must say so.
    const std::string command = std::string(HEDDLE_CXX) + " -std=c++20 -shared -fPIC -O1 -w -ffp-contract=off -fsanitize=signed-integer-overflow" +
                                " -fsanitize-undefined-trap-on-error -o " + library + " " + source + " 2> " + log;
    if (std::system(command.c_str()) != 0) ADD_FAILURE() << read_file(log) << "\n" << text;
    handle_ = dlopen(library.c_str(), RTLD_NOW);
    if (!handle_) ADD_FAILURE() << dlerror();
  }
  ~HostLibrary() {
    if (handle_) dlclose(handle_);
  }
  HostLibrary(const HostLibrary&) = delete;

  template <class Function>
  Function* find(const std::string& name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name.c_str()));
  }

 private:
  Folder folder_;
  void* handle_ = nullptr;
};

}  // namespace heddle::test
