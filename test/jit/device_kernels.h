// Small GPU kernels and the compilers of this machine, for the tests of src/jit.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "src/jit/device_compiler.h"

namespace heddle::test {

/// The compilers of this process.
inline const jit::DeviceCompilers& compilers() {
  static const jit::DeviceCompilers all;
  return all;
}

/// y[i] = a * y[i] for i < n, in the language that all three compilers share; no include.
inline const std::string kScale = R"(extern "C" __attribute__((global)) void scale(float* y, float a, int n, int first) {
  if (first < n) y[first] = a * y[first];
}
)";

/// CUDA: each thread holds `values` values of its own across a loop, so that few registers must spill.
inline std::string many_values(int values) {
  std::string text =
      "extern \"C\" __attribute__((global)) void held(float* y, int n) {\n  y += threadIdx.x * 1000;\n  float v[" +
      std::to_string(values) + "];\n";
  text += "#pragma unroll\n  for (int i = 0; i < " + std::to_string(values) + "; ++i) v[i] = y[i];\n";
  text +=
      "  for (int k = 0; k < n; ++k) {\n    float x = y[k];\n#pragma unroll\n    for (int i = 0; i < " + std::to_string(values);
  text += "; ++i) v[i] = v[i] * x + v[(i + 1) % " + std::to_string(values) + "];\n  }\n";
  text += "#pragma unroll\n  for (int i = 0; i < " + std::to_string(values) + "; ++i) y[i] = v[i];\n}\n";
  return text;
}

}  // namespace heddle::test

/// Leaves a test that needs a compiler which this machine lacks; where HEDDLE_GPU_COMPILERS says that all are there, that is a
/// failure.
#define HEDDLE_NEEDS_COMPILER(slot)                             \
  if (!(slot).compiler) {                                       \
    if (HEDDLE_GPU_COMPILERS) FAIL() << (slot).why_not;         \
    GTEST_SKIP() << "skipped: " << (slot).name << " not found"; \
  }
