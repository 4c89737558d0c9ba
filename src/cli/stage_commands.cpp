#include "src/cli/stage_commands.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "heddle/error.h"
#include "src/cli/problem_options.h"
#include "src/engine/compiler.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

using engine::StageText;

struct StageName {
  const char* name;
  StageText stage;
};

constexpr std::array kStages = {
    StageName{"formula", StageText::Formula},   StageName{"facts", StageText::Facts},
    StageName{"plan", StageText::Plan},         StageName{"tile", StageText::Tile},
    StageName{"schedule", StageText::Schedule}, StageName{"source", StageText::Source},
    StageName{"asm", StageText::Asm},
};

struct Settings {
  ProblemOptions problem;
  std::string stage;
  bool json = false;
};

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const StageName& stage : kStages) names.push_back(stage.name);
  return names;
}

StageText parse_stage(const std::string& text) {
  for (const StageName& stage : kStages) {
    if (text == stage.name) return stage.stage;
  }
  const std::string near = support::nearest(text, stage_names());
  throw UserError(fmt::format("--stage {}: expected one of {}", support::quote(text), support::list(stage_names())),
                  near.empty() ? "" : fmt::format("did you mean {}?", near));
}

void declare_common(CLI::App& command, Settings& settings) {
  declare(command, settings.problem);
  command.add_flag("--json", settings.json, "print one JSON object");
}

/// Q, K, V and O of GPU kernels are float16.
std::string text_of(const ir::AttentionProblem& problem, const std::optional<GpuTarget>& gpu, StageText stage) {
  return gpu ? engine::compiler().gpu_stage(problem, *gpu, DType::Float16, stage) : engine::compiler().stage(problem, stage);
}

/// Text of one stage of every problem; a spec's attentions are told apart by a line with the node's name.
int show(const Settings& settings, const std::string& name, StageText stage) {
  const std::vector<NamedProblem> all = problems(settings.problem);
  const std::optional<GpuTarget> gpu = gpu_target(settings.problem);
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  for (const NamedProblem& one : all) {
    std::string body = text_of(one.problem, gpu, stage);
    if (!body.ends_with('\n')) body += '\n';
    if (stage == StageText::Explain) body = one.matrix + body;
    list.push_back({{"name", one.name}, {"target", gpu ? gpu->to_string() : one.problem.target.to_string()}, {"text", body}});
    if (!settings.problem.spec.empty()) text += fmt::format("== {}\n", one.name);
    text += body;
  }
  const nlohmann::json object = {{"stage", name}, {"attentions", list}};
  write(settings.json ? object.dump(2) + '\n' : text);
  return kDone;
}

}  // namespace

void add_plan_command(CLI::App& app, Action& action) {
  add_command<Settings>(app, action,
                        {"plan", "the plan of an attention: passes, tiles, loop nests, costs",
                         "heddle plan --mask 'k <= q && q - k < 256' --head-dim 64"},
                        declare_common, [](const Settings& settings) { return show(settings, "plan", StageText::Plan); });
}

void add_explain_command(CLI::App& app, Action& action) {
  add_command<Settings>(app, action,
                        {"explain", "why this plan: what was understood, what is done, what lost",
                         "heddle explain --mask 'abs(q - k) <= w || k < g' --param w=256 --param g=16"},
                        declare_common, [](const Settings& settings) { return show(settings, "explain", StageText::Explain); });
}

void add_emit_command(CLI::App& app, Action& action) {
  const auto declare_emit = [](CLI::App& command, Settings& settings) {
    declare_common(command, settings);
    command.add_option("--stage", settings.stage, support::list(stage_names()))->required();
  };
  add_command<Settings>(
      app, action,
      {"emit", "any stage of the compiler as text, from formula to assembly", "heddle emit --mask 'k <= q' --stage source"},
      declare_emit, [](const Settings& settings) { return show(settings, settings.stage, parse_stage(settings.stage)); });
}

}  // namespace heddle::cli
