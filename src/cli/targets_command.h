// `heddle targets`: what can be compiled here, what can run here, and why not.
#pragma once
#include "src/cli/command.h"

namespace heddle::cli {

void add_targets_command(CLI::App& app, Action& action);

}  // namespace heddle::cli
