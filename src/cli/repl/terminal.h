// Reads lines from a terminal with editing, history and completion (libedit), and knows of Ctrl-C.
//
// SIGINT, SIGWINCH and SIGCONT are blocked while a Terminal lives and read from a signalfd: at the prompt SIGINT clears the line,
// and a job watches the same file. At most one lives at a time.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/cli/repl/completion.h"

namespace heddle::cli::repl {

/// $XDG_STATE_HOME/heddle/history, else $HOME/.local/state/heddle/history; empty when neither variable is an absolute path.
std::string history_path();
inline constexpr int kHistoryEntries = 1000;

class Terminal {
 public:
  using Completer = std::function<Completion(std::string_view line)>;
  /// Reads earlier statements from `history`; an empty path keeps none. What cannot be read or written is left out silently:
  /// a session goes on without its history.
  Terminal(Completer completer, std::string history);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  enum class Read { Line, Interrupted, End };
  Read read(const char* prompt, std::string& line);
  /// Appends a statement to the history and writes that, for this user only (mode 0600), to its file.
  void remember(const std::string& statement);
  /// Becomes readable when SIGINT comes.
  int signals() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::cli::repl
