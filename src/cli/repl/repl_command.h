// `heddle repl [SCRIPT]`: an interactive session, or the statements of a file or pipe.
#pragma once
#include "src/cli/command.h"

namespace heddle::cli {

void add_repl_command(CLI::App& app, Action& action);

}  // namespace heddle::cli
