// What every code generator back end can do with a source unit: object bytes and assembly text.
#pragma once
#include <string>
#include "src/codegen/llvm/source_unit.h"

namespace heddle::jit {

/// How hard LLVM's code generator works: 0 (fast selection, everything spilled) to 3. Kernels are made at 2: 3 gains nothing.
inline constexpr int kCodegenLevel = 2;

/// Relocatable ELF object of the unit's target, whatever the host is. Consumes the module. Throws ToolchainError when LLVM refuses, with
/// LLVM's complaints, the unit's origin and the name of a file that the code is kept in.
std::string compile(codegen::SourceUnit unit, int codegen_level = kCodegenLevel);
/// Assembly text of the same code.
std::string assembly(codegen::SourceUnit unit);

}  // namespace heddle::jit
