// A program on a pseudo terminal: keys go in, and what a screen would show comes out.
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::test {

/// The lines that a terminal without end shows after these bytes: text, carriage return, line feed, backspace and the cursor and
/// erase sequences that line editors send.
inline std::string screen_of(const std::string& bytes) {
  std::vector<std::string> lines(1);
  size_t row = 0, column = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\r') {
      column = 0;
    } else if (c == '\n') {
      if (++row == lines.size()) lines.emplace_back();
    } else if (c == '\b') {
      column -= column > 0;
    } else if (c == '\033' && i + 1 < bytes.size() && bytes[i + 1] == '[') {
      size_t count = 0;
      for (i += 2; i < bytes.size() && (bytes[i] == '?' || bytes[i] == ';' || (bytes[i] >= '0' && bytes[i] <= '9')); ++i) {
        count = bytes[i] >= '0' && bytes[i] <= '9' ? 10 * count + static_cast<size_t>(bytes[i] - '0') : 0;
      }
      const size_t step = count == 0 ? 1 : count;
      std::string& line = lines[row];
      if (bytes[i] == 'K') line.resize(std::min(line.size(), column));
      if (bytes[i] == 'J') line.resize(std::min(line.size(), column));
      if (bytes[i] == 'C') column += step;
      if (bytes[i] == 'D') column -= std::min(column, step);
      if (bytes[i] == 'A') row -= std::min(row, step);
      if (bytes[i] == 'P' && column < line.size()) line.erase(column, step);
      if (bytes[i] == '@' && column < line.size()) line.insert(column, step, ' ');
    } else if (static_cast<unsigned char>(c) >= ' ') {
      std::string& line = lines[row];
      if (line.size() <= column) line.resize(column + 1, ' ');
      line[column++] = c;
    }
  }
  std::string text;
  for (std::string& line : lines) {
    while (line.ends_with(' ')) line.pop_back();
    text += line + '\n';
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

class PtySession {
 public:
  /// Starts the program on a terminal of 100 columns.
  PtySession(const std::string& program, const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment) {
    const winsize size{40, 100, 0, 0};
    process_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (process_ < 0) throw std::runtime_error("cannot make a terminal");
    if (process_ == 0) {
      for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
      std::vector<char*> words = {const_cast<char*>(program.c_str())};
      for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
      words.push_back(nullptr);
      execv(program.c_str(), words.data());
      _exit(127);
    }
  }
  ~PtySession() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    close(terminal_);
  }
  PtySession(const PtySession&) = delete;
  PtySession& operator=(const PtySession&) = delete;

  pid_t process() const { return process_; }
  std::string screen() const { return screen_of(bytes_); }

  void type(const std::string& keys) {
    if (::write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) throw std::runtime_error("cannot type");
  }
  /// Reads until the last line of the screen is `line`, or for `seconds` at most; then false.
  bool wait_for_line(const std::string& line, double seconds = 60) {
    return wait([&] { return last_line() == line; }, seconds);
  }
  /// Types, and reads until the last line is `line`, further down than before.
  bool type_and_wait(const std::string& keys, const std::string& line, double seconds = 60) {
    const auto before = lines();
    type(keys);
    return wait([&] { return last_line() == line && lines() > before; }, seconds);
  }
  /// Reads until the screen contains `text`.
  bool wait_for(const std::string& text, double seconds = 60) {
    return wait([&] { return screen().find(text) != std::string::npos; }, seconds);
  }
  /// Exit status once the program has ended; -1 when it has not after `seconds`.
  int status(double seconds = 60) {
    wait([&] { return ended_; }, seconds);
    int state = 0;
    if (!ended_ || waitpid(process_, &state, 0) != process_) return -1;
    process_ = 0;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  }

 private:
  std::ptrdiff_t lines() const {
    const std::string text = screen();
    return std::count(text.begin(), text.end(), '\n');
  }
  std::string last_line() const {
    std::string text = screen();
    if (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }
  template <typename Done>
  bool wait(Done done, double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!done()) {
      if (ended_ || std::chrono::steady_clock::now() > end) return false;
      pollfd file{terminal_, POLLIN, 0};
      if (poll(&file, 1, 100) <= 0) continue;
      char block[4096];
      const ssize_t got = ::read(terminal_, block, sizeof block);
      if (got > 0) bytes_.append(block, static_cast<size_t>(got));
      ended_ = got <= 0;
    }
    return true;
  }

  int terminal_ = -1;
  pid_t process_ = 0;
  std::string bytes_;
  bool ended_ = false;
};

}  // namespace heddle::test
