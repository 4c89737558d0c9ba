#include "src/cli/repl/statement.h"

#include <algorithm>

namespace heddle::cli::repl {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

}  // namespace

std::string_view stripped(std::string_view line) { return trimmed(line.substr(0, line.find('#'))); }

bool unfinished(std::string_view text) {
  constexpr std::string_view kGoingOn = "+-*/%<>=!&|?:,([";
  const std::string_view rest = trimmed(text);
  const auto count = [&](char c) { return std::count(rest.begin(), rest.end(), c); };
  if (rest.empty()) return false;
  return kGoingOn.find(rest.back()) != std::string_view::npos || count('(') > count(')') || count('[') > count(']');
}

std::pair<std::string_view, std::string_view> split_first(std::string_view text) {
  text = trimmed(text);
  const size_t end = std::min(text.find_first_of(kSpaces), text.size());
  return {text.substr(0, end), trimmed(text.substr(end))};
}

std::pair<std::string_view, std::string_view> split_last(std::string_view text) {
  text = trimmed(text);
  const size_t space = text.find_last_of(kSpaces);
  const size_t start = space == std::string_view::npos ? 0 : space + 1;
  return {trimmed(text.substr(0, start)), text.substr(start)};
}

std::optional<std::pair<std::string_view, std::string_view>> split_equals(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.substr(equals).starts_with("==")) return std::nullopt;
  return std::pair{trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

}  // namespace heddle::cli::repl
