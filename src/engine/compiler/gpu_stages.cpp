#include "src/engine/compiler/gpu_stages.h"

#include <fmt/format.h>

#include "heddle/error.h"
#include "src/codegen/clike/kernel_text.h"
#include "src/lower/pipeline.h"
#include "src/lower/schedule_gpu.h"

namespace heddle::engine {
namespace {

constexpr const char* kSymbol = "heddle_attention";

/// What was asked for, in the words of the formula.
std::string question(const ir::AttentionProblem& problem, const GpuTarget& target, DType dtype) {
  std::string text = fmt::format("Attention for {}, {}, head_dim {}", target.to_string(), to_string(dtype), problem.head_dim);
  if (problem.value_dim != problem.head_dim) text += fmt::format(", value_dim {}", problem.value_dim);
  text += fmt::format("\nmask: {}", problem.mask ? ir::print(problem.mask) : "every pair");
  if (problem.score) text += fmt::format("\nscore: {}", ir::print(problem.score));
  return text;
}

}  // namespace

std::string gpu_stage_text(const ir::AttentionProblem& problem, const GpuTarget& target, DType dtype, StageText stage) {
  if (stage == StageText::Formula) return ir::canonical_text(problem);
  if (stage == StageText::Asm) {
    throw UserError(fmt::format("no --stage asm for {}: --stage source is a whole translation unit for its compiler", target.to_string()));
  }
  if (problem.probabilities) throw UserError("GPU kernels do not keep probabilities");
  if (problem.few_queries) throw UserError("there are no GPU kernels for few queries");
  const lower::PipelineState front = lower::run_pipeline(problem, lower::GpuChoice{target, dtype}).state;
  switch (stage) {
    case StageText::Facts: return lower::facts_text(front);
    case StageText::Plan: return plan::print(front.plan);
    case StageText::Explain: return plan::explain(front.plan);
    case StageText::Tile: return ir::print(front.tile);
    default: break;
  }
  const ir::GpuProgram scheduled = lower::schedule_gpu(front.tile, target, dtype);
  if (stage == StageText::Schedule) return ir::print(scheduled);
  return codegen::clike::kernel_text(scheduled, kSymbol, question(problem, target, dtype)).source();
}

}  // namespace heddle::engine
