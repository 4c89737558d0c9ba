// Child processes that run a function of the test.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

namespace heddle::test {

/// Runs `body` in a child process, which ends with its result. What is buffered is written before, lest the child write it again.
inline pid_t start(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

/// Waits for the child: its exit status, or -1 when a signal ended it.
inline int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace heddle::test
