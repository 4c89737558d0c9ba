// Lines of a file or pipe, given out as soon as they have come.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace heddle::cli::repl {

class LineReader {
 public:
  /// Reads an open file, which stays the caller's.
  explicit LineReader(int file) : file_(file) {}
  /// Without its line break; nullopt at the end. Throws UserError for a line of more than kMaxStatementBytes, RuntimeError when
  /// reading fails.
  std::optional<std::string> next();
  /// Of the line given out last; from 1.
  size_t number() const { return number_; }

 private:
  bool fill();

  int file_;
  std::array<char, 4096> block_;
  size_t begin_ = 0, end_ = 0, number_ = 0;
};

}  // namespace heddle::cli::repl
