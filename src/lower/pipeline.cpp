#include "src/lower/pipeline.h"

#include <algorithm>
#include <map>
#include <set>

#include "src/ir/rewrite.h"
#include "src/lower/lower_attention.h"
#include "src/lower/lower_decode.h"
#include "src/plan/decode_plan.h"
#include "src/plan/gpu_plan.h"
#include "src/plan/make_plan.h"
#include "src/plan/split_passes.h"

namespace heddle::lower {
namespace {

/// Loop variables of nests are short names of a block, row or digit; a parameter of that kind would be captured.
bool may_be_captured(const std::string& name) {
  return name.size() <= 3 && std::string("qkN").find(name[0]) != std::string::npos;
}

std::map<std::string, std::string> new_names(const ir::ParameterOrder& order) {
  std::set<std::string> taken(order.ints.begin(), order.ints.end());
  taken.insert(order.reals.begin(), order.reals.end());
  std::map<std::string, std::string> renamed;
  for (const std::string& name : order.ints) {
    if (!may_be_captured(name)) continue;
    std::string fresh = "parameter_" + name;
    while (!taken.insert(fresh).second) fresh += '_';
    renamed[name] = fresh;
  }
  return renamed;
}

void rename_parameters(PipelineState& state) {
  const std::map<std::string, std::string> renamed = new_names(state.parameters);
  const auto leaf = [&](const ir::ExprNode& node) -> ir::Expr {
    const auto found = renamed.find(node.name);
    return node.op == ir::Op::Param && found != renamed.end() ? ir::param(found->second, node.type) : nullptr;
  };
  if (state.problem.mask) state.problem.mask = ir::substitute(state.problem.mask, leaf);
  if (state.problem.score) state.problem.score = ir::substitute(state.problem.score, leaf);
  state.plan.parameters = state.parameters;
  for (std::string& name : state.plan.parameters->ints) {
    if (renamed.contains(name)) name = renamed.at(name);
  }
}

void simplify_formulas(PipelineState& state) {
  if (state.problem.mask) state.problem.mask = ir::simplify(state.problem.mask);
  if (state.problem.score) state.problem.score = ir::simplify(state.problem.score);
}

void make_plan(PipelineState& state) {
  const std::optional<ir::ParameterOrder> parameters = state.plan.parameters;
  if (state.gpu) {
    state.plan = plan::make_gpu_plan(state.problem, state.gpu->target, state.gpu->dtype, *state.facts);
    state.plan.parameters = parameters;
    return;
  }
  state.plan = state.problem.few_queries ? plan::make_decode_plan(state.problem, *state.facts) : plan::make_plan(state.problem, *state.facts);
  state.plan.parameters = parameters;
}

/// Passes over parts of a mask pay by full tiles; queries of few rows are bound by memory, and each pass costs a GPU kernel two more steps.
void split(PipelineState& state) {
  if (!state.problem.few_queries && !state.gpu) state.plan = plan::split_passes(state.plan, *state.facts);
}

void lower(PipelineState& state) {
  if (state.problem.few_queries) {
    state.decode = lower_decode(state.plan);
  } else {
    state.tile = lower_attention(state.plan);
  }
}

void verify_program(const PipelineState& state) {
  if (state.problem.few_queries) return ir::verify(state.decode);
  ir::verify(state.tile);
}

std::string formula_text(const PipelineState& state) { return ir::canonical_text(state.problem); }
std::string plan_text(const PipelineState& state) { return plan::print(state.plan); }
std::string program_text(const PipelineState& state) { return state.problem.few_queries ? ir::print(state.decode) : ir::print(state.tile); }
void verify_plan(const PipelineState& state) { plan::verify(state.plan); }

PipelineResult run(const ir::AttentionProblem& problem, const std::optional<GpuChoice>& gpu, const support::PassContext& context,
                   std::shared_ptr<plan::TileFacts> facts) {
  PipelineResult result;
  result.state.problem = problem;
  result.state.gpu = gpu;
  result.state.parameters = ir::parameter_order(problem);
  result.state.facts = facts ? std::move(facts) : std::make_shared<plan::AnalysedFacts>();
  result.times = support::run_passes(pipeline(), result.state, context);
  return result;
}

}  // namespace

const std::vector<support::Pass<PipelineState>>& pipeline() {
  static const std::vector<support::Pass<PipelineState>> passes = {
      {"rename", rename_parameters, nullptr, formula_text, false},
      {"simplify", simplify_formulas, nullptr, formula_text, true},
      {"plan", make_plan, verify_plan, plan_text, false},
      {"split", split, verify_plan, plan_text, true},
      {"lower", lower, verify_program, program_text, false},
  };
  return passes;
}

PipelineResult run_pipeline(const ir::AttentionProblem& problem, const support::PassContext& context,
                            std::shared_ptr<plan::TileFacts> facts) {
  return run(problem, std::nullopt, context, std::move(facts));
}

PipelineResult run_pipeline(const ir::AttentionProblem& problem, const GpuChoice& gpu, const support::PassContext& context,
                            std::shared_ptr<plan::TileFacts> facts) {
  return run(problem, gpu, context, std::move(facts));
}

std::string facts_text(const PipelineState& state) {
  const ir::Expr mask = state.problem.mask ? ir::simplify(state.problem.mask) : ir::bool_const(true);
  if (mask->op == ir::Op::BoolConst) return mask->integer ? "every pair is allowed\n" : "no pair is allowed\n";
  return state.facts->text(mask, {state.problem.few_queries ? 1 : state.plan.tile_rows, state.plan.tile_keys});
}

}  // namespace heddle::lower
