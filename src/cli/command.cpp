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

int report(int status, std::string message) {
  while (message.ends_with('\n')) message.pop_back();
  fmt::print(stderr, "heddle: {}\n", message);
  return status;
}

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

int guarded(const Action& work) {
  try {
    return work();
  } catch (const InternalError& error) {
    return report(kInternalError, error.what());
  } catch (const Error& error) {
    return report(kUserError, error.what());
  } catch (const std::bad_alloc&) {
    return report(kUserError, "out of memory: use smaller sizes, or a machine with more memory");
  } catch (const std::exception& error) {
    return report(kInternalError, unexpected(error.what()));
  }
}

}  // namespace heddle::cli
