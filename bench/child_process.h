// Runs this executable anew as a child and takes its output and the wall time of its whole life.
#pragma once
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/support/timer.h"

namespace bench {

struct ChildResult {
  double milliseconds = 0;      ///< From before the spawn until the child is reaped: exec, dynamic linking and exit included.
  double cpu_milliseconds = 0;  ///< User and system time of all its threads, which other work on the machine hardly moves.
  std::string output;           ///< Standard output.
};

inline std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(file, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(got));
  return text;
}

inline double milliseconds_of(const timeval& time) {
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
}

/// Throws when the child cannot be started or does not exit with 0.
inline ChildResult run_self(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::filesystem::read_symlink("/proc/self/exe").string());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  const heddle::support::Timer timer;
  pid_t child = 0;
  const int refused = posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ChildResult result;
  result.output = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  if (refused != 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    throw std::runtime_error("the child process failed: " + result.output);
  }
  result.milliseconds = timer.milliseconds();
  result.cpu_milliseconds = milliseconds_of(usage.ru_utime) + milliseconds_of(usage.ru_stime);
  return result;
}

}  // namespace bench
