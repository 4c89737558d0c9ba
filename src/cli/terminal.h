// What standard output can show, from the terminal and the environment.
#pragma once
#include "src/engine/picture/terminal.h"

namespace heddle::cli {

/// Width of the terminal, or 80; block characters where the locale (LC_ALL, LC_CTYPE, LANG) is UTF-8; colour on a terminal unless
/// NO_COLOR is set or TERM is `dumb`.
engine::TextStyle terminal_style();

}  // namespace heddle::cli
