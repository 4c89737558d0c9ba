// Text helpers for messages: quoting what a user typed, shortening, and finding the name that was probably meant.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::support {

/// The text with control characters and bytes that are not UTF-8 written as escapes (`\n`, `\x1b`).
std::string escape(std::string_view text);

/// At most `limit` bytes (>= 3): a longer text loses its middle to "...".
std::string shorten(std::string_view text, size_t limit);

/// 'text', escaped and shortened, for use inside a one-line message.
std::string quote(std::string_view text, size_t limit = 60);

/// Edit distance with insertions, deletions, substitutions and swaps of neighbours, each of cost 1 (Damerau-Levenshtein, optimal
/// string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate closest to `name`, or empty when none is near enough to be a likely typing mistake. Case counts half, and a name that differs
/// in nothing else is always near.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// `by` in front of every line.
std::string indented(std::string_view text, std::string_view by);

/// "a, b, c"; more than `most` names end in "and N more".
std::string list(const std::vector<std::string>& names, size_t most = 24);

}  // namespace heddle::support
