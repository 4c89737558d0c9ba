// Reads the command line: finds the subcommand to run, or the message for a mistake in it.
#pragma once
#include "src/cli/command.h"

namespace heddle::cli {

/// What a command line asks for: either an action, or text to print (help, version).
struct Request {
  Action action;
  std::string text;
};

/// Throws UserError, with the nearest known name, for an unknown subcommand or option, a missing or malformed value.
Request parse(int argc, const char* const* argv);

}  // namespace heddle::cli
