#include "src/cli/parse.h"

#include <fmt/format.h>

#include "heddle/error.h"
#include "src/cli/cache_command.h"
#include "src/cli/facts_command.h"
#include "src/cli/stage_commands.h"
#include "src/cli/targets_command.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

/// The innermost subcommand that was named.
CLI::App* innermost(CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

/// "heddle cache list"
std::string full_name(const CLI::App* app) {
  return app->get_parent() ? fmt::format("{} {}", full_name(app->get_parent()), app->get_name()) : app->get_name();
}

std::vector<std::string> subcommand_names(CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app->get_subcommands([](CLI::App*) { return true; })) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

[[noreturn]] void unknown(CLI::App* app, const std::string& word) {
  const bool option = word.starts_with('-');
  const std::vector<std::string> known = option ? option_names(app) : subcommand_names(app);
  const std::string near = support::nearest(word.substr(0, word.find('=')), known);
  throw UserError(fmt::format("{}: unknown {} {}", full_name(app), option ? "option" : known.empty() ? "argument" : "command",
                              support::quote(word)),
                  near.empty() ? fmt::format("`{} --help` lists what there is", full_name(app))
                               : fmt::format("did you mean {}?", near));
}

[[noreturn]] void explain(CLI::App& app, const CLI::ParseError& error) {
  CLI::App* inner = innermost(&app);
  const std::vector<std::string> extras = app.remaining(true);
  const bool wants_command = !subcommand_names(inner).empty();
  if (!extras.empty()) unknown(inner, extras.front());
  if (wants_command) {
    throw UserError(fmt::format("{}: expected a command: {}", full_name(inner), support::list(subcommand_names(inner))),
                    fmt::format("`{} --help` says what each of them does", full_name(inner)));
  }
  throw UserError(fmt::format("{}: {}", full_name(inner), error.what()), fmt::format("see `{} --help`", full_name(inner)));
}

void declare(CLI::App& app, Action& action) {
  app.set_version_flag("--version", "heddle " HEDDLE_VERSION);
  app.require_subcommand(1);
  app.footer("`heddle COMMAND --help` shows the options and an example of each.\n"
             "Exit status: 0 done, 1 a check failed, 2 wrong input or machine, 3 a defect of Heddle.");
  add_facts_command(app, action);
  add_plan_command(app, action);
  add_explain_command(app, action);
  add_emit_command(app, action);
  add_cache_command(app, action);
  add_targets_command(app, action);
}

}  // namespace

Request parse(int argc, const char* const* argv) {
  Request request;
  CLI::App app("Compiles attention formulas to fast kernels for this machine.", "heddle");
  declare(app, request.action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    request.text = innermost(&app)->help();
  } catch (const CLI::CallForVersion& version) {
    request.text = fmt::format("{}\n", version.what());
  } catch (const CLI::ParseError& error) {
    explain(app, error);
  }
  return request;
}

}  // namespace heddle::cli
