// The front half of the compiler, from an attention problem to its tile program: the ordered list of target-independent passes.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/ir/attention_problem.h"
#include "src/ir/decode_program.h"
#include "src/ir/tile_program.h"
#include "src/plan/kernel_plan.h"
#include "src/plan/tile_facts.h"
#include "src/support/gpu_target.h"
#include "src/support/pass_list.h"

namespace heddle::lower {

/// A GPU that a kernel is made for, and the dtype of its Q, K, V and O.
struct GpuChoice {
  GpuTarget target;
  DType dtype = DType::Float16;
};

/// What the passes build up, and the result of the pipeline.
struct PipelineState {
  ir::AttentionProblem problem;      ///< As asked, then rewritten.
  ir::ParameterOrder parameters;     ///< Of the problem as asked: names and order for the LaunchRecord.
  std::shared_ptr<plan::TileFacts> facts;
  plan::KernelPlan plan;
  ir::TileProgram tile;              ///< Its parameters stand in the order of `parameters`, though names may differ.
  std::optional<GpuChoice> gpu;      ///< In place of problem.target.
  ir::DecodeProgram decode;          ///< In place of `tile` when problem.few_queries.
};

/// The passes in order: rename (parameters that loop variables of nests would shadow), simplify (optional), plan, split (optional),
/// lower. Each is verified where a verifier exists.
const std::vector<support::Pass<PipelineState>>& pipeline();

struct PipelineResult {
  PipelineState state;
  std::vector<support::TimedPass> times;
};

/// Runs the list. `facts` answers the planner; null makes plan::AnalysedFacts.
PipelineResult run_pipeline(const ir::AttentionProblem& problem, const support::PassContext& context = {},
                            std::shared_ptr<plan::TileFacts> facts = nullptr);

/// The same for a GPU.
PipelineResult run_pipeline(const ir::AttentionProblem& problem, const GpuChoice& gpu, const support::PassContext& context = {},
                            std::shared_ptr<plan::TileFacts> facts = nullptr);

/// The facts of the planned mask as text, or a sentence where there is nothing to analyse (every pair, no pair).
std::string facts_text(const PipelineState& state);

}  // namespace heddle::lower
