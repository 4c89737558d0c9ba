#include "src/cli/repl/loop.h"

#include <fmt/format.h>
#include <unistd.h>

#include "src/cli/repl/interpreter.h"
#include "src/cli/repl/line_reader.h"
#include "src/cli/repl/statement.h"
#include "src/cli/repl/terminal.h"

namespace heddle::cli::repl {
namespace {

constexpr const char *kPrompt = "heddle> ", *kMore = "   ...> ";

/// Executes a statement; what it throws becomes the answer.
Answer answer_of(Interpreter& interpreter, const std::string& statement) {
  Answer answer;
  const std::optional<Failure> failure = attempt([&] { answer = interpreter.execute(statement); });
  return failure ? Answer{failure->status, failure->message, false, false} : answer;
}

bool failed(const Answer& answer) { return answer.status > kCheckFailed; }

/// Lines joined to one, as a history of single lines holds it.
std::string in_one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

/// A session at a terminal.
class Conversation {
 public:
  Conversation()
      : terminal_([this](std::string_view line) { return complete(interpreter_.session(), pending_ + std::string(line)); },
                  history_path()),
        interpreter_({.signals = terminal_.signals(), .progress = isatty(STDERR_FILENO) == 1}) {}

  void run() {
    write("heddle " HEDDLE_VERSION ": `help` lists the commands, Ctrl-D ends the session\n");
    std::string line;
    for (bool going = true; going;) {
      switch (terminal_.read(pending_.empty() ? kPrompt : kMore, line)) {
        case Terminal::Read::Line: going = take(line); break;
        case Terminal::Read::Interrupted: pending_.clear(); break;
        case Terminal::Read::End: write("\n"); return;
      }
    }
  }

 private:
  bool take(const std::string& line) {
    const std::string_view text = stripped(line);
    pending_ += text;
    if (!text.empty() && unfinished(pending_)) {
      pending_ += '\n';
      return true;
    }
    const std::string statement(stripped(pending_));
    pending_.clear();
    return statement.empty() || answer(statement);
  }

  /// False when the session ends.
  bool answer(const std::string& statement) {
    terminal_.remember(in_one_line(statement));
    const Answer answer = answer_of(interpreter_, statement);
    if (answer.cancelled) write("cancelled\n");
    if (!answer.text.empty()) write(failed(answer) ? fmt::format("error: {}\n", answer.text) : answer.text);
    return !answer.quit;
  }

  std::string pending_;
  Terminal terminal_;
  Interpreter interpreter_;
};

/// The statements of a file, one after the other.
class Script {
 public:
  explicit Script(int file) : lines_(file) {}
  /// Line that the statement begins on.
  size_t number() const { return first_; }
  /// False at the end. Throws as LineReader.
  bool next(std::string& statement) {
    statement.clear();
    first_ = lines_.number() + 1;
    while (const std::optional<std::string> line = lines_.next()) {
      const std::string_view text = stripped(*line);
      if (statement.empty()) first_ = lines_.number();
      statement += text;
      const bool more = !text.empty() && unfinished(statement);
      if (!more && !statement.empty()) return true;
      if (more) statement += '\n';
    }
    return !statement.empty();
  }

 private:
  LineReader lines_;
  size_t first_ = 0;
};

int report(const std::string& name, size_t line, const Failure& failure) {
  std::string message = failure.message;
  while (message.ends_with('\n')) message.pop_back();
  fmt::print(stderr, "heddle: {}:{}: {}\n", name, line, message);
  return failure.status;
}

}  // namespace

int converse() {
  Conversation().run();
  return kDone;
}

int run_script(int file, const std::string& name) {
  Script script(file);
  Interpreter interpreter({.signals = -1, .progress = isatty(STDERR_FILENO) == 1});
  int status = kDone;
  for (std::string statement;;) {
    bool more = false;
    if (const auto failure = attempt([&] { more = script.next(statement); })) return report(name, script.number(), *failure);
    if (!more) return status;
    const Answer answer = answer_of(interpreter, std::string(stripped(statement)));
    if (failed(answer)) return report(name, script.number(), {answer.status, answer.text});
    write(answer.text);
    status = std::max(status, answer.status);
    if (answer.quit) return status;
  }
}

}  // namespace heddle::cli::repl
