#include "src/cli/repl/repl_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "heddle/error.h"
#include "src/cli/repl/loop.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

struct Settings {
  std::string script;
};

int run_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw UserError(fmt::format("cannot read {}: {}", support::quote(path), std::strerror(errno)));
  const int status = repl::run_script(file, path);
  close(file);
  return status;
}

int run(const Settings& settings) {
  if (!settings.script.empty() && settings.script != "-") return run_file(settings.script);
  if (settings.script.empty() && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) return repl::converse();
  return repl::run_script(STDIN_FILENO, "standard input");
}

}  // namespace

void add_repl_command(CLI::App& app, Action& action) {
  const auto declare = [](CLI::App& command, Settings& settings) {
    command.add_option("SCRIPT", settings.script, "file with statements, - for standard input; default: this terminal, or a pipe");
  };
  add_command<Settings>(app, action,
                        {"repl", "an interactive session: define masks and scores, see facts and plans, run and compare",
                         "heddle repl examples/repl/window.heddle"},
                        declare, run);
}

}  // namespace heddle::cli
