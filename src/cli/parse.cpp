#include "src/cli/parse.h"

#include <fmt/format.h>

#include "heddle/error.h"
#include "src/cli/cache_command.h"
#include "src/cli/draw_command.h"
#include "src/cli/facts_command.h"
#include "src/cli/repl/repl_command.h"
#include "src/cli/run_command.h"
#include "src/cli/stage_commands.h"
#include "src/cli/targets_command.h"
#include "src/cli/verify_command.h"
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

/// What a message about this subcommand begins with: "cache list: ", nothing for the command itself.
std::string context(const CLI::App* app) { return app->get_parent() ? full_name(app).substr(sizeof "heddle") + ": " : ""; }

std::string unknown_word(CLI::App* app, const std::string& word, std::string& hint) {
  const bool option = word.starts_with('-');
  const std::vector<std::string> known = option ? option_names(app) : subcommand_names(app);
  const std::string near = support::nearest(word.substr(0, word.find('=')), known);
  hint = near.empty() ? fmt::format("`{} --help` lists what there is", full_name(app)) : fmt::format("did you mean {}?", near);
  return fmt::format("unknown {} {}", option ? "option" : known.empty() ? "argument" : "command", support::quote(word));
}

/// CLI11's own message, except for values of the wrong type, which it reports without what was expected.
std::string reworded(const CLI::ParseError& error) {
  const std::string text = error.what(), conversion = "Could not convert: ";
  return text.starts_with(conversion) ? text.substr(conversion.size()) + ": expected a number" : text;
}

[[noreturn]] void explain(CLI::App& app, const CLI::ParseError& error) {
  CLI::App* inner = innermost(&app);
  const std::vector<std::string> extras = app.remaining(true), commands = subcommand_names(inner);
  std::string hint = fmt::format("see `{} --help`", full_name(inner));
  const std::string message = !extras.empty()     ? unknown_word(inner, extras.front(), hint)
                              : !commands.empty() ? "expected a command: " + support::list(commands)
                                                  : reworded(error);
  throw UserError(context(inner) + message, hint);
}

void declare(CLI::App& app, Action& action) {
  app.set_version_flag("--version", "heddle " HEDDLE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "`heddle COMMAND --help` shows the options and an example of each.\n"
      "Exit status: 0 done, 1 a check failed, 2 wrong input or machine, 3 a defect of Heddle.");
  add_facts_command(app, action);
  add_draw_command(app, action);
  add_plan_command(app, action);
  add_explain_command(app, action);
  add_emit_command(app, action);
  add_run_command(app, action);
  add_repl_command(app, action);
  add_verify_command(app, action);
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
    const CLI::App* inner = innermost(&app);
    request.text = inner->help(inner->get_parent() ? full_name(inner->get_parent()) : "");
  } catch (const CLI::CallForVersion& version) {
    request.text = fmt::format("{}\n", version.what());
  } catch (const CLI::ParseError& error) {
    explain(app, error);
  }
  return request;
}

}  // namespace heddle::cli
