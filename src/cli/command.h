// What the subcommands of `heddle` share: how one is registered, what it returns, how it writes, and how errors become
// statuses.
//
// A subcommand lives in one file pair with one entry, `void add_NAME_command(CLI::App& app, Action& action)`. It declares its
// options and, in the subcommand's callback, sets `action` to what has to be done; main() runs it after parsing has succeeded.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle::cli {

/// Exit statuses of every subcommand.
enum Status : int { kDone = 0, kCheckFailed = 1, kUserError = 2, kInternalError = 3 };

using Action = std::function<int()>;

/// Writes to standard output. A reader that went away (`heddle ... | head -1`) ends the process quietly with kDone; any other
/// failure to write, such as a full disk, is a RuntimeError.
void write(std::string_view text);

/// What an exception comes to: UserError, ToolchainError, RuntimeError and lack of memory are kUserError; anything else is
/// kInternalError, with how to report it in the message.
struct Failure {
  int status;
  std::string message;
};

/// Runs `work`; nullopt when it throws nothing.
std::optional<Failure> attempt(const std::function<void()>& work);

/// Runs `work` and turns what it throws into one message on standard error and a status.
int guarded(const Action& work);

/// What --help says of a subcommand.
struct CommandText {
  std::string name, what, example;
};

/// Adds a subcommand whose options live in a `Settings` shared by the parser and `run`.
template <typename Settings, typename Declare, typename Run>
void add_command(CLI::App& app, Action& action, const CommandText& text, Declare declare, Run run) {
  CLI::App* command = app.add_subcommand(text.name, text.what);
  command->footer("Example:\n  " + text.example);
  auto settings = std::make_shared<Settings>();
  declare(*command, *settings);
  command->callback([&action, settings, run] { action = [settings, run] { return run(*settings); }; });
}

}  // namespace heddle::cli
