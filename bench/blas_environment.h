// The environment that OpenBLAS reads when it is opened.
#pragma once
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "heddle/target.h"
#include "runtime/blas.h"

namespace bench {

/// Makes OpenBLAS choose `core`, or for "" its own choice: starts the process anew where the environment says something else,
/// since on some machines the two variables halve OpenBLAS.
inline void settle_blas_environment(char** arguments, const std::string& core) {
  const char* chosen = std::getenv("OPENBLAS_CORETYPE");
  if (core == (chosen ? chosen : "") && !std::getenv("OPENBLAS_L2_SIZE")) return;
  unsetenv("OPENBLAS_L2_SIZE");
  unsetenv("OPENBLAS_CORETYPE");
  if (!core.empty()) setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
  execv("/proc/self/exe", arguments);
}

/// Says which OpenBLAS and which target the figures are of.
inline void say_baseline(const heddle::Target& target) {
  const heddle::runtime::BlasInfo& blas = heddle::runtime::Blas::open().info();
  benchmark::AddCustomContext("openblas", blas.version + ", core type " + blas.core);
  benchmark::AddCustomContext("target", target.to_string());
}

/// Takes the option out of the arguments where it is there.
inline bool take_option(int& count, char** arguments, const char* option) {
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], option) != 0) continue;
    for (int j = i; j < count; ++j) arguments[j] = arguments[j + 1];
    --count;
    return true;
  }
  return false;
}

}  // namespace bench
