// Decode program to LLVM IR: one AttentionKernel (heddle/kernel_abi.h) of split blocks, and an internal function for the step of each pass.
#pragma once
#include "src/codegen/llvm/source_unit.h"
#include "src/ir/decode_program.h"

namespace heddle::codegen {

/// `symbol` names the kernel. The result is verified.
SourceUnit emit_kernel(const ir::DecodeProgram& program, const std::string& symbol);

}  // namespace heddle::codegen
