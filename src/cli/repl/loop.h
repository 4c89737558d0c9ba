// The two ways to hold a session: at a terminal, and with the statements of a file or pipe.
#pragma once
#include <string>

namespace heddle::cli::repl {

/// Prompts, prints answers and messages, and goes on until `quit` or the end of input. Returns kDone.
int converse();

/// Runs statements up to the end or the first error, which is reported on standard error with `name` and line. Returns that
/// error's status, else kCheckFailed when a run was over its bar, else kDone.
int run_script(int file, const std::string& name);

}  // namespace heddle::cli::repl
