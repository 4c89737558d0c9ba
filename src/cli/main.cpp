#include <csignal>

#include "src/cli/parse.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // A reader that goes away is seen by write().
  return heddle::cli::guarded([&] {
    const heddle::cli::Request request = heddle::cli::parse(argc, argv);
    if (request.action) return request.action();
    heddle::cli::write(request.text);
    return static_cast<int>(heddle::cli::kDone);
  });
}
