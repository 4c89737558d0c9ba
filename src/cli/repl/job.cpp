#include "src/cli/repl/job.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "heddle/error.h"
#include "src/support/timer.h"

namespace heddle::cli::repl {
namespace {

constexpr double kFirstProgress = 1000, kProgressEvery = 250;  // Milliseconds.

/// The line that shows a job is alive.
class Progress {
 public:
  Progress(const std::string& title, bool wanted) : title_(title), wanted_(wanted) {}
  ~Progress() {
    if (step_ > 0) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// How long to wait before the next call, in milliseconds; -1: for ever.
  int show() {
    if (!wanted_) return -1;
    const double now = timer_.milliseconds(), due = kFirstProgress + step_ * kProgressEvery;
    if (now < due) return static_cast<int>(due - now) + 1;
    fmt::print(stderr, "\r\033[K{} {}: {:.0f} s (Ctrl-C cancels)", "|/-\\"[step_ % 4], title_, now / 1000);
    step_ = static_cast<int>((now - kFirstProgress) / kProgressEvery) + 1;
    return static_cast<int>(kProgressEvery);
  }

 private:
  const std::string& title_;
  const bool wanted_;
  support::Timer timer_;
  int step_ = 0;
};

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

/// The child: ends with the parent, and by SIGINT.
[[noreturn]] void work_and_exit(const Work& work, int output, pid_t parent) {
  std::signal(SIGINT, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kDone);
  JobResult result;
  if (const std::optional<Failure> failure = attempt([&] { result = work(); })) result = {failure->status, failure->message, false};
  write_all(output, result.text);
  _exit(result.status);
}

RuntimeError system_error(const char* what) { return RuntimeError(fmt::format("cannot {}: {}", what, std::strerror(errno))); }

/// A child that is reaped in any case.
class Child {
 public:
  explicit Child(const Work& work) {
    int ends[2];
    if (pipe(ends) != 0) throw system_error("make a pipe");
    std::fflush(nullptr);
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      work_and_exit(work, ends[1], parent);
    }
    close(ends[1]);
    output_ = ends[0];
    if (process_ < 0) {
      close(output_);
      throw system_error("start a process");
    }
  }
  ~Child() {
    close(output_);
    if (process_ > 0) {
      kill(process_, SIGKILL);
      wait();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int output() const { return output_; }
  /// Appends what there is; false at its end.
  bool read(std::string& text) const {
    std::array<char, 1 << 16> block;
    const ssize_t got = ::read(output_, block.data(), block.size());
    if (got > 0) text.append(block.data(), static_cast<size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
  }
  /// waitpid's status.
  int wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
  }

 private:
  pid_t process_ = 0;
  int output_ = -1;
};

/// True when SIGINT was among the signals that have come.
bool interrupted(int signals) {
  signalfd_siginfo info{};
  return ::read(signals, &info, sizeof info) == sizeof info && info.ssi_signo == SIGINT;
}

/// Collects the child's output; false when it was interrupted.
bool collect(const Child& child, const JobOptions& options, Progress& progress, std::string& text) {
  std::array<pollfd, 2> files = {{{child.output(), POLLIN, 0}, {options.signals, POLLIN, 0}}};
  for (;;) {
    if (poll(files.data(), files.size(), progress.show()) < 0) {
      if (errno == EINTR) continue;
      throw system_error("wait for a job");
    }
    if ((files[1].revents & POLLIN) && interrupted(options.signals)) return false;
    if (files[0].revents && !child.read(text)) return true;
  }
}

JobResult ended(int status, std::string text) {
  if (WIFEXITED(status)) return {WEXITSTATUS(status), std::move(text), false};
  const int signal = WTERMSIG(status);
  if (signal == SIGKILL) {
    return {kUserError, "the job was killed, as the system does when memory runs out: use smaller sizes", false};
  }
  const std::string what = fmt::format("a job was ended by signal {} ({})", signal, strsignal(signal));
  return {kInternalError, InternalError("repl", what).what(), false};
}

}  // namespace

JobResult run_job(const std::string& title, const Work& work, const JobOptions& options) {
  Child child(work);
  Progress progress(title, options.progress);
  std::string text;
  if (!collect(child, options, progress, text)) return {kDone, "", true};
  const int status = child.wait();
  if (options.signals >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) {
    interrupted(options.signals);
    return {kDone, "", true};
  }
  return ended(status, std::move(text));
}

}  // namespace heddle::cli::repl
