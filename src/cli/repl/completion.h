// What TAB offers: the words that may stand where the cursor is.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/repl/session.h"

namespace heddle::cli::repl {

struct Completion {
  size_t typed = 0;                 ///< Bytes of the word before the cursor.
  std::vector<std::string> words;  ///< Those that begin with it, sorted.
  char next = ' ';                 ///< What follows the only word: '(' after a function, '[' after a table that is read.
};

/// `line` is the statement up to the cursor, lines before this one included.
Completion complete(const Session& session, std::string_view line);

/// The longest text that all words begin with.
std::string common_prefix(const std::vector<std::string>& words);

}  // namespace heddle::cli::repl
