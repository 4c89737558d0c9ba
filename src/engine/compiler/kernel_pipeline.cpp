#include "src/engine/compiler/kernel_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/codegen/llvm/emit_decode.h"
#include "src/codegen/llvm/emit_kernel.h"
#include "src/ir/rewrite.h"
#include "src/jit/toolchain.h"
#include "src/lower/bind_program.h"
#include "src/lower/pipeline.h"
#include "src/lower/schedule_cpu.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

constexpr const char* kSymbol = "heddle_attention";

std::string summary(const ir::AttentionProblem& problem) {
  std::string text = fmt::format("attention {} head_dim {}", problem.target.to_string(), problem.head_dim);
  if (problem.value_dim != problem.head_dim) text += fmt::format(" value_dim {}", problem.value_dim);
  if (problem.dtype != DType::Float32) text += " " + to_string(problem.dtype);
  text += fmt::format(" mask {}", problem.mask ? ir::print(problem.mask) : "none");
  if (problem.score) text += fmt::format(" score {}", ir::print(problem.score));
  if (problem.few_queries) text += " few queries";
  if (problem.lse) text += " lse";
  if (problem.probabilities) text += " probabilities";
  return text;
}

/// A problem on its way down, with the time of every step.
struct Descent {
  lower::PipelineState front;
  ir::ScheduledProgram schedule;
  std::vector<support::TimedPass> times;

  template <typename Step>
  auto timed(const char* name, const Step& step) {
    const support::Timer timer;
    auto made = step();
    times.push_back({name, timer.milliseconds()});
    return made;
  }
  void run_front(const ir::AttentionProblem& problem, const support::PassContext& context) {
    lower::PipelineResult result = lower::run_pipeline(problem, context);
    front = std::move(result.state);
    times = std::move(result.times);
  }
  bool few_queries() const { return front.problem.few_queries; }
  void run_schedule() {
    if (few_queries()) return;
    schedule = timed("schedule", [&] { return lower::schedule_cpu(front.tile, front.problem.target); });
  }
  int64_t scratch_bytes() const { return few_queries() ? front.decode.scratch_bytes : schedule.scratch_bytes; }
  std::string schedule_text() const { return few_queries() ? ir::print(front.decode) : ir::print(schedule); }
  codegen::SourceUnit emit() {
    codegen::SourceUnit unit = timed("emit", [&] {
      return few_queries() ? codegen::emit_kernel(front.decode, kSymbol) : codegen::emit_kernel(schedule, kSymbol);
    });
    unit.origin = summary(front.problem);
    return unit;
  }
};

/// The parts of compressed rows as texts, parameters by the names the user gave them.
std::vector<RowProgression> progressions(const lower::PipelineState& state) {
  const std::vector<std::string>&given = state.parameters.ints, &used = state.tile.int_params;
  const auto named = [&](const ir::Expr& formula) {
    return ir::print(ir::substitute(formula, [&](const ir::ExprNode& node) -> ir::Expr {
      const auto found = std::ranges::find(used, node.name);
      if (node.op != ir::Op::Param || found == used.end()) return nullptr;
      return ir::param(given[static_cast<size_t>(found - used.begin())], node.type);
    }));
  };
  std::vector<RowProgression> parts;
  for (const plan::RowComponent& c : state.plan.components) parts.push_back({named(c.offset), named(c.count), c.stride});
  return parts;
}

LaunchRecord record_of(const ir::AttentionProblem& problem, const Descent& descent) {
  LaunchRecord record;
  record.symbol = kSymbol;
  record.target = problem.target.to_string();
  record.dtype = problem.dtype;
  record.head_dim = problem.head_dim;
  record.value_dim = problem.value_dim;
  record.block_rows = descent.front.plan.tile_rows;
  record.scratch_bytes = descent.scratch_bytes();
  record.split = problem.few_queries;
  record.max_positions = ir::kMaxPositions;
  record.lse = problem.lse;
  record.probabilities = problem.probabilities;
  record.row_progressions = progressions(descent.front);
  record.int_params = descent.front.parameters.ints;
  record.real_params = descent.front.parameters.reals;
  record.tables = ir::table_order(problem);
  record.tile_keys = descent.front.plan.tile_keys;
  for (const plan::PassPlan& pass : descent.front.plan.passes) {
    if (pass.source == plan::TileSource::Listed) record.bind = lower::bind_program(pass.mask, descent.front.tile.int_params, record.tables);
  }
  record.summary = summary(problem);
  record.facts = lower::facts_text(descent.front);
  record.plan = plan::explain(descent.front.plan);
  return record;
}

}  // namespace

CompiledKernel compile_kernel(const ir::AttentionProblem& problem, const support::PassContext& context) {
  Descent descent;
  descent.run_front(problem, context);
  descent.run_schedule();
  codegen::SourceUnit unit = descent.emit();
  CompiledKernel kernel;
  kernel.object = descent.timed("LLVM", [&] { return jit::compile(std::move(unit)); });
  kernel.record = descent.timed("report", [&] { return record_of(problem, descent); });
  kernel.times = std::move(descent.times);
  return kernel;
}

std::string stage_text(const ir::AttentionProblem& problem, StageText stage) {
  if (stage == StageText::Formula) return ir::canonical_text(problem);
  Descent descent;
  descent.run_front(problem, {});
  switch (stage) {
    case StageText::Facts: return lower::facts_text(descent.front);
    case StageText::Plan: return plan::print(descent.front.plan);
    case StageText::Explain: return plan::explain(descent.front.plan);
    case StageText::Tile: return descent.few_queries() ? descent.schedule_text() : ir::print(descent.front.tile);
    default: break;
  }
  descent.run_schedule();
  if (stage == StageText::Schedule) return descent.schedule_text();
  codegen::SourceUnit unit = descent.emit();
  return stage == StageText::Source ? codegen::print(unit) : jit::assembly(std::move(unit));
}

}  // namespace heddle::engine
