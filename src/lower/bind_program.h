// Writes a mask down as the program that binds its tables at run time (heddle/bind_program.h).
#pragma once
#include <string>
#include <vector>
#include "heddle/bind_program.h"
#include "src/ir/attention_problem.h"

namespace heddle::lower {

/// `mask`: Bool over Ints, divisors guarded. Parameters and tables are numbered as in the lists, which have every name of the mask.
BindProgram bind_program(const ir::Expr& mask, const std::vector<std::string>& int_params, const std::vector<TableDeclaration>& tables);

}  // namespace heddle::lower
