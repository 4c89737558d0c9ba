// Whole kernels as C-like text for the compilers of GPU vendors.
#pragma once
#include <string>
#include "heddle/gpu_launch.h"
#include "src/ir/gpu_program.h"

namespace heddle::codegen::clike {

struct KernelText {
  std::string prelude;  ///< Belongs in front of `text`.
  std::string text;
  GpuLaunch launch;
  std::string source() const { return prelude + "\n" + text; }
};

/// The text of one kernel, called `symbol`. `comment` says what was asked for; it stands above the kernel.
KernelText kernel_text(const ir::GpuProgram& program, const std::string& symbol, const std::string& comment = {});

}  // namespace heddle::codegen::clike
