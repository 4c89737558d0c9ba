#include "src/support/text.h"
#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <numeric>
#include "src/support/glyphs.h"

namespace heddle::support {

namespace {

constexpr size_t kLongestCompared = 64;

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  for (const Glyph& glyph : glyphs(text)) result += glyph.shown;
  return result;
}

std::string shorten(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  const size_t head = (limit - 3 + 1) / 2, tail = limit - 3 - head;
  return std::string(text.substr(0, head)) + "..." + std::string(text.substr(text.size() - tail));
}

std::string quote(std::string_view text, size_t limit) {
  return fmt::format("'{}'", escape(shorten(text, limit)));
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kLongestCompared) return {};
  const size_t allowed = name.size() == 1 ? 1 : 2 * std::max<size_t>(1, name.size() / 3);
  std::string best;
  size_t best_cost = allowed + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestCompared) continue;
    const size_t ignoring_case = edit_distance(lower(name), lower(candidate));
    const size_t cost = ignoring_case == 0 ? (name != candidate) : ignoring_case + edit_distance(name, candidate);
    if (cost < best_cost) best = candidate, best_cost = cost;
  }
  return best;
}

std::string indented(std::string_view text, std::string_view by) {
  std::string result;
  bool start = true;
  for (const char c : text) {
    if (start) result += by;
    result += c;
    start = c == '\n';
  }
  return result;
}

std::string list(const std::vector<std::string>& names, size_t most) {
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + most, ", "), names.size() - most);
}

}  // namespace heddle::support
