// `heddle cache list|stats|verify|clear`: the kernel cache on disk, without loading the compiler.
#pragma once
#include "src/cli/command.h"

namespace heddle::cli {

void add_cache_command(CLI::App& app, Action& action);

}  // namespace heddle::cli
