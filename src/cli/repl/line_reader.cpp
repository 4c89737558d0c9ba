#include "src/cli/repl/line_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "heddle/error.h"
#include "src/cli/repl/statement.h"

namespace heddle::cli::repl {

bool LineReader::fill() {
  ssize_t got = 0;
  while ((got = ::read(file_, block_.data(), block_.size())) < 0 && errno == EINTR) {
  }
  if (got < 0) throw RuntimeError(fmt::format("cannot read: {}", std::strerror(errno)));
  begin_ = 0;
  end_ = static_cast<size_t>(got);
  return got > 0;
}

std::optional<std::string> LineReader::next() {
  std::string line;
  ++number_;
  while (begin_ < end_ || fill()) {
    const auto first = block_.begin() + static_cast<std::ptrdiff_t>(begin_), last = block_.begin() + static_cast<std::ptrdiff_t>(end_);
    const auto stop = std::find(first, last, '\n');
    line.append(first, stop);
    begin_ += static_cast<size_t>(stop - first) + (stop != last);
    if (line.size() > kMaxStatementBytes) {
      throw UserError(fmt::format("the line has more than {} bytes", kMaxStatementBytes), "state the pattern with /, %, min and max");
    }
    if (stop != last) return line;
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

}  // namespace heddle::cli::repl
