// The argument structure of a kernel, as text and as the list of fields that launchers fill.
#pragma once
#include <string>
#include <vector>
#include "heddle/gpu_launch.h"
#include "src/codegen/clike/expr_text.h"
#include "src/codegen/clike/text_writer.h"
#include "src/ir/gpu_program.h"

namespace heddle::codegen::clike {

/// Fields in order; each takes 8 bytes.
std::vector<GpuArgument> arguments(const ir::GpuProgram& program, bool lse, bool lists);

/// Writes `struct Formula` (parameters and tables by their names; absent when there are none) and `struct Arguments`, field by field as
/// arguments() lists them.
void write_argument_structs(TextWriter& out, const ir::GpuProgram& program, bool lse, bool lists);

bool has_formula_fields(const ir::GpuProgram& program);

/// Defines the formula's parameters and tables as fields of `formula`.
void define_formula(ExprText& text, const ir::GpuProgram& program, const std::string& formula);

/// C++ text of an element of Q, K, V and O in memory.
const char* element_type(DType dtype);

}  // namespace heddle::codegen::clike
