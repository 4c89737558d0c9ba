// `heddle facts`: the exact facts of a mask at given lengths, as text or with the keys of the case files.
#pragma once
#include "src/cli/command.h"

namespace heddle::cli {

void add_facts_command(CLI::App& app, Action& action);

}  // namespace heddle::cli
