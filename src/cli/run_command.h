// `heddle run`: runs a model spec on real input and reports kernels, times and errors.
#pragma once
#include "src/cli/command.h"

namespace heddle::cli {

void add_run_command(CLI::App& app, Action& action);

}  // namespace heddle::cli
