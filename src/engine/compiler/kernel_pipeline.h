// The whole compiler for one attention problem: the passes of src/lower, the CPU schedule, LLVM IR and object code.
#pragma once
#include "src/engine/compiler.h"
#include "src/support/pass_list.h"

namespace heddle::engine {

/// Runs every pass, timed, those of `context.disabled` left out.
CompiledKernel compile_kernel(const ir::AttentionProblem& problem, const support::PassContext& context = {});

/// The text of one stage; passes behind it do not run.
std::string stage_text(const ir::AttentionProblem& problem, StageText stage);

}  // namespace heddle::engine
