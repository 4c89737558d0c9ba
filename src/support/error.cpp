#include "heddle/error.h"
#include <fmt/format.h>
#include <algorithm>
#include <string_view>
#include <utility>
#include "src/support/glyphs.h"

namespace heddle {

namespace {

constexpr size_t kExcerptColumns = 100;
constexpr size_t kContextColumns = 20;

/// The line of text a span begins on, as glyphs, and which of them [begin, end) the span covers.
struct Excerpt {
  std::vector<support::Glyph> line;
  size_t begin = 0, end = 0;
  bool cut_left = false, cut_right = false;  ///< Text of the line is missing there.
};

size_t columns(const Excerpt& excerpt, size_t first, size_t last) {
  size_t total = 0;
  for (size_t i = first; i < last; ++i) total += excerpt.line[i].columns;
  return total;
}

/// Only the bytes near the span are read, so that a line of megabytes costs nothing.
Excerpt excerpt_of(const SourceSpan& span) {
  const std::string_view text = span.text;
  const size_t offset = std::min(span.offset, text.size());
  const size_t reach = 8 * kExcerptColumns;
  const size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  size_t from = offset - std::min(offset - line_start, reach);
  while (from > line_start && from < offset && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
  const size_t line_end = std::min(std::min(text.find('\n', offset), text.size()), offset + reach);
  Excerpt excerpt;
  excerpt.cut_left = from > line_start;
  excerpt.cut_right = line_end < text.size() && text[line_end] != '\n';
  excerpt.line = support::glyphs(text.substr(from, line_end - from));
  const auto index_of = [&](size_t byte) {
    const auto at = std::find_if(excerpt.line.begin(), excerpt.line.end(), [&](const auto& g) { return from + g.offset >= byte; });
    return static_cast<size_t>(at - excerpt.line.begin());
  };
  excerpt.begin = index_of(offset);
  excerpt.end = std::max(index_of(span.length > reach ? line_end : std::min(line_end, offset + span.length)), excerpt.begin);
  return excerpt;
}

/// Glyphs [first, last) to show: all when they fit, else the span and what fits around it.
std::pair<size_t, size_t> window(const Excerpt& excerpt) {
  const size_t count = excerpt.line.size();
  if (columns(excerpt, 0, count) <= kExcerptColumns) return {0, count};
  size_t first = excerpt.begin, last = excerpt.begin, used = 0;
  while (last < excerpt.end && used < kExcerptColumns) used += excerpt.line[last++].columns;
  for (size_t before = 0; first > 0 && before < kContextColumns && used < kExcerptColumns; ++before) used += excerpt.line[--first].columns;
  while (last < count && used < kExcerptColumns) used += excerpt.line[last++].columns;
  while (first > 0 && used < kExcerptColumns) used += excerpt.line[--first].columns;
  return {first, last};
}

std::string compose(const std::string& message, const SourceSpan& span, const std::string& hint) {
  const std::string place = span.caret();
  std::string result = message;
  if (!place.empty()) result += "\n" + place;
  if (!hint.empty()) result += "\nhint: " + hint;
  return result;
}

}  // namespace

size_t SourceSpan::line() const {
  const size_t end = std::min(offset, text.size());
  return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

size_t SourceSpan::column() const {
  const size_t end = std::min(offset, text.size());
  const size_t newline = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  return newline == std::string::npos ? end + 1 : end - newline;
}

std::string SourceSpan::caret() const {
  if (text.empty()) return origin;
  const Excerpt excerpt = excerpt_of(*this);
  const auto [first, last] = window(excerpt);
  const bool cut_left = first > 0 || excerpt.cut_left;
  std::string shown = cut_left ? "..." : "";
  for (size_t i = first; i < last; ++i) shown += excerpt.line[i].shown;
  if (last < excerpt.line.size() || excerpt.cut_right) shown += "...";
  const size_t indent = (cut_left ? 3 : 0) + columns(excerpt, first, excerpt.begin);
  const size_t width = std::max<size_t>(1, columns(excerpt, excerpt.begin, std::min(excerpt.end, last)));
  return fmt::format("{}:{}:{}\n  {}\n  {}{}", origin.empty() ? "text" : origin, line(), column(), shown, std::string(indent, ' '),
                     std::string(width, '^'));
}

UserError::UserError(std::string message, std::string hint) : UserError(std::move(message), SourceSpan{}, std::move(hint)) {}

UserError::UserError(std::string message, SourceSpan span, std::string hint)
    : Error(compose(message, span, hint)), message_(std::move(message)), span_(std::move(span)), hint_(std::move(hint)) {}

ToolchainError::ToolchainError(const std::string& message, const std::string& log)
    : Error(log.empty() ? message : message + "\n" + log) {}

InternalError::InternalError(const std::string& stage, const std::string& message)
    : Error(fmt::format("internal error in {}: {}\nThis is a defect of Heddle. Please report it with the formula or spec that caused it; "
                        "`heddle emit` shows every stage of a formula.",
                        stage, message)) {}

}  // namespace heddle
