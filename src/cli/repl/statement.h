// Statements of the REPL's language: how lines join to a statement, and how a statement is taken apart.
//
// A statement is a command and what follows it, or a formula alone. `#` starts a comment. A line that ends inside parentheses or
// with an operator goes on in the next one; an empty line ends it in any case.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::cli::repl {

/// Bytes of a statement, all its lines together, that are read at most.
inline constexpr size_t kMaxStatementBytes = 65 * 1024;

/// Without comment, and without spaces at both ends.
std::string_view stripped(std::string_view line);

/// True when the text must go on: an open parenthesis or bracket, or an operator, comma or '=' at its end.
bool unfinished(std::string_view text);

/// The first word and what follows it, both without spaces around them.
std::pair<std::string_view, std::string_view> split_first(std::string_view text);

/// What precedes the last word, and the last word.
std::pair<std::string_view, std::string_view> split_last(std::string_view text);

/// NAME and VALUE of "NAME = VALUE"; nullopt for any other form. The name is not checked.
std::optional<std::pair<std::string_view, std::string_view>> split_equals(std::string_view text);

}  // namespace heddle::cli::repl
