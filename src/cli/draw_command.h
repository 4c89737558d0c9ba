// `heddle draw`: a picture of a mask and its tiles, in the terminal or as an SVG or PNG file.
#pragma once
#include "src/cli/command.h"

namespace heddle::cli {

void add_draw_command(CLI::App& app, Action& action);

}  // namespace heddle::cli
