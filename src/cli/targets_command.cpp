#include "src/cli/targets_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "heddle/error.h"
#include "heddle/target.h"
#include "src/engine/compiler.h"

namespace heddle::cli {
namespace {

struct Settings {
  bool json = false;
};

struct Row {
  std::string target;
  bool compiles, runs;
  std::string why_not_compile, why_not_run;
};

/// Empty when the compiler can be loaded, else what it says.
std::string compiler_trouble() {
  try {
    engine::compiler();
    return {};
  } catch (const ToolchainError& error) {
    std::string message = error.what();
    while (message.ends_with('\n')) message.pop_back();
    return message;
  }
}

std::vector<Row> rows() {
  const std::string trouble = compiler_trouble();
  std::vector<Row> found;
  for (const Target& target : Target::all()) {
    std::string why;
    const bool runs = target.runs_here(&why);
    found.push_back({target.to_string(), trouble.empty(), runs, trouble, runs ? "" : why});
  }
  return found;
}

std::string answer(bool yes, const std::string& why) { return yes ? "yes" : fmt::format("no: {}", why); }

int run(const Settings& settings) {
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  for (const Row& row : rows()) {
    list.push_back({{"target", row.target},
                    {"compiles", row.compiles},
                    {"runs", row.runs},
                    {"why_not_compile", row.why_not_compile},
                    {"why_not_run", row.why_not_run}});
    text += fmt::format("{}\n  compiles here: {}\n  runs here: {}\n", row.target, answer(row.compiles, row.why_not_compile),
                        answer(row.runs, row.why_not_run));
  }
  write(settings.json ? list.dump(2) + '\n' : text);
  return kDone;
}

}  // namespace

void add_targets_command(CLI::App& app, Action& action) {
  const auto declare = [](CLI::App& command, Settings& settings) {
    command.add_flag("--json", settings.json, "print one JSON array");
  };
  add_command<Settings>(app, action,
                        {"targets", "what can be compiled here, what can run here, and why not", "heddle targets --json"},
                        declare, run);
}

}  // namespace heddle::cli
