// `heddle verify`: runs case files against what Heddle finds.
#pragma once
#include "src/cli/command.h"

namespace heddle::cli {

void add_verify_command(CLI::App& app, Action& action);

}  // namespace heddle::cli
