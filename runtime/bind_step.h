// Arity of the steps of a bind program.
#pragma once
#include "heddle/bind_program.h"

namespace heddle {

/// Operands that are steps named by a, b, c: 0 for leaves and for Read, whose index steps stand in BindProgram::reads.
constexpr int operand_count(BindOp op) {
  if (op <= BindOp::Read) return 0;
  if (op <= BindOp::Not) return 1;
  return op == BindOp::Select ? 3 : 2;
}

}  // namespace heddle
