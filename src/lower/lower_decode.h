// Lowers the plan of attention of few queries to its scheduled program: register tiles and scratch memory decided.
//
// Before: a plan of plan::make_decode_plan. After: a program that ir::verify accepts.
#pragma once
#include "src/ir/decode_program.h"
#include "src/plan/kernel_plan.h"

namespace heddle::lower {

ir::DecodeProgram lower_decode(const plan::KernelPlan& plan);

}  // namespace heddle::lower
