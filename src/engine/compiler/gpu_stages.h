// The stages of the compiler for GPU targets, as text.
#pragma once
#include <string>
#include "src/engine/compiler.h"

namespace heddle::engine {

/// The text of one stage; passes behind it do not run. Source: a whole translation unit for the vendor's compiler, prelude and kernel.
/// Throws UserError for stages and problems that GPU targets do not have.
std::string gpu_stage_text(const ir::AttentionProblem& problem, const GpuTarget& target, DType dtype, StageText stage);

}  // namespace heddle::engine
