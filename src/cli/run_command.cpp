#include "src/cli/run_command.h"

#include <optional>

#include "heddle/graph.h"
#include "src/cli/run_report.h"
#include "src/cli/values.h"
#include "src/engine/compiler.h"

namespace heddle::cli {
namespace {

struct Settings {
  std::string spec, target;
  std::vector<std::string> dims, inputs, allow_paths;
  int threads = 0, repeat = 5;
  bool check = false, profile = false, json = false;
};

void declare(CLI::App& command, Settings& settings) {
  command.add_option("SPEC", settings.spec, "model spec (JSON)")->required();
  command.add_option("--input", settings.inputs, "NAME=@FILE[,FILE...]: an integer input holds the bytes of files; repeatable")
      ->allow_extra_args(false);
  command.add_option("--dim", settings.dims, "NAME=SIZE: another size of a dim of the spec; repeatable")
      ->allow_extra_args(false);
  command.add_option("--allow-path", settings.allow_paths, "folder outside the spec's own that it may read; repeatable")
      ->allow_extra_args(false);
  command.add_option("--target", settings.target, "as `heddle targets` lists them; default the best of this machine");
  command.add_option("--threads", settings.threads, "threads to run on; default all cores")->check(CLI::Range(0, 1024));
  command.add_option("--repeat", settings.repeat, "runs of the model and of each attention")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_flag("--check", settings.check,
                   "also runs the model in float64; status 1 when an attention or an output is over its bar");
  command.add_flag("--profile", settings.profile, "prints the time of every node");
  command.add_flag("--json", settings.json, "print one JSON object");
}

Engine engine_of(const Settings& settings) {
  EngineOptions options;
  options.threads = settings.threads;
  if (!settings.target.empty()) options.target = Target::parse(settings.target);
  return Engine(options);
}

RunReport report_of(const Settings& settings, const Spec& spec, Engine& engine) {
  RunReport report{.spec = settings.spec,
                   .name = spec.graph().name,
                   .target = engine.target().to_string(),
                   .threads = engine.threads(),
                   .checked = settings.check,
                   .profile = settings.profile};
  report.inputs = read_inputs(settings.inputs, spec.graph());
  Model model(engine, spec);
  report.model = engine::measure_model(model, report.inputs.given, settings.repeat);
  runtime::ThreadPool pool(engine.threads());
  for (const AttentionUse& use : report.model.last.attentions) {
    report.attentions.push_back(engine::measure_attention(engine, use, settings.repeat, pool));
  }
  if (settings.check) report.checks = engine::check_outputs(model, report.inputs.given, report.model.last.outputs);
  report.compilations = engine.compilations();
  report.compiler_loaded = engine::compiler_loaded();
  return report;
}

int run(const Settings& settings) {
  const Spec spec =
      Spec::load(settings.spec, {.dims = parse_integers("--dim", settings.dims), .allow_paths = settings.allow_paths});
  Engine engine = engine_of(settings);
  const RunReport report = report_of(settings, spec, engine);
  write(settings.json ? json_of(report) : text_of(report));
  return report.checked && !report.passed() ? kCheckFailed : kDone;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  add_command<Settings>(app, action,
                        {"run", "runs a model spec: kernels, times, comparison with dense attention, errors",
                         "heddle run examples/models/longformer_block.json --input tokens=@LICENSE,README.md --check"},
                        declare, run);
}

}  // namespace heddle::cli
