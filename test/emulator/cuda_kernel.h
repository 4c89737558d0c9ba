// CUDA text to a program of the emulator, through the real NVRTC.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "src/jit/device_compiler.h"
#include "test/emulator/emulator.h"
#include "test/jit/device_kernels.h"

namespace heddle::emulator {

/// The PTX that NVRTC writes for a target.
inline std::string ptx_of(const std::string& text, const char* target = "cuda:sm_80") {
  return test::compilers().nvrtc().compiler->compile({"kernel.cu", text}, GpuTarget::parse(target), {.ptx_only = true}).ptx;
}
inline Program program_of(const std::string& text, const char* target = "cuda:sm_80") {
  return decode_ptx(ptx_of(text, target));
}

/// The text with one piece of it replaced; fails the test when it is not there.
inline std::string replaced(std::string text, const std::string& piece, const std::string& by) {
  const size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return at == std::string::npos ? text : text.replace(at, piece.size(), by);
}

}  // namespace heddle::emulator

/// Leaves a test that needs NVRTC where there is none; where the build says that it must be there, that is a failure.
#define HEDDLE_NEEDS_NVRTC() HEDDLE_NEEDS_COMPILER(heddle::test::compilers().nvrtc())
