#include "src/cli/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "heddle/error.h"

namespace heddle::cli {
namespace {

std::string unexpected(const char* what) { return InternalError("heddle command", what).what(); }

}  // namespace

void write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      std::_Exit(kDone);
    } else if (errno != EINTR) {
      throw RuntimeError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
  }
}

std::optional<Failure> attempt(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const InternalError& error) {
    return Failure{kInternalError, error.what()};
  } catch (const Error& error) {
    return Failure{kUserError, error.what()};
  } catch (const std::bad_alloc&) {
    return Failure{kUserError, "out of memory: use smaller sizes, or a machine with more memory"};
  } catch (const std::exception& error) {
    return Failure{kInternalError, unexpected(error.what())};
  }
}

int guarded(const Action& work) {
  int status = kDone;
  std::optional<Failure> failure = attempt([&] { status = work(); });
  if (!failure) return status;
  while (failure->message.ends_with('\n')) failure->message.pop_back();
  fmt::print(stderr, "heddle: {}\n", failure->message);
  return failure->status;
}

}  // namespace heddle::cli
