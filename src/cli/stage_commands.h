// `heddle plan`, `heddle explain` and `heddle emit`: the stages of the compiler for a formula or a spec, as text.
#pragma once
#include "src/cli/command.h"

namespace heddle::cli {

void add_plan_command(CLI::App& app, Action& action);
void add_explain_command(CLI::App& app, Action& action);
void add_emit_command(CLI::App& app, Action& action);

}  // namespace heddle::cli
