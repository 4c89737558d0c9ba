// Scheduled program to LLVM IR: one AttentionKernel (heddle/kernel_abi.h) and an internal function for the step of each key loop.
//
// The module imports nothing: no mathematics library, no memory functions. Loops are in the form that needs no IR pass.
#pragma once
#include "src/codegen/llvm/source_unit.h"
#include "src/ir/scheduled_program.h"

namespace heddle::codegen {

/// `symbol` names the kernel. The result is verified.
SourceUnit emit_kernel(const ir::ScheduledProgram& program, const std::string& symbol);

}  // namespace heddle::codegen
