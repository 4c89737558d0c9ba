// Work that may take long, in a child process: it can be stopped at any point, and can crash, without harm to the session.
//
// Before the fork this process has one thread and holds no lock, and it never loads the compiler: the child does, and ends with
// the job. Ctrl-C kills the child; locks of the disk cache go with it, and half-written files of the cache are never seen.
#pragma once
#include <functional>
#include <string>

#include "src/cli/command.h"

namespace heddle::cli::repl {

struct JobResult {
  int status = kDone;  ///< As exit statuses; kDone and kCheckFailed come with output, the others with a message.
  std::string text;
  bool cancelled = false;
};

/// What a job gives back: a status, kDone or kCheckFailed, and its output.
using Work = std::function<JobResult()>;

struct JobOptions {
  int signals = -1;       ///< A signalfd that reports SIGINT, which is blocked; -1: SIGINT ends the session.
  bool progress = false;  ///< A line on standard error, renewed four times a second, once the job takes more than a second.
};

/// Runs `work` in a child process and waits for it. `title` stands in the progress line.
JobResult run_job(const std::string& title, const Work& work, const JobOptions& options);

}  // namespace heddle::cli::repl
