#include "src/support/glyphs.h"
#include <fmt/format.h>

namespace heddle::support {

namespace {

/// Bytes of the well-formed UTF-8 character at the start of `text`, or 0. Overlong forms, surrogates and C1 controls give 0.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : byte(0) < 0xF5 ? 4 : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (length < 2) return length;
  const int lead = byte(0), next = byte(1);
  const bool bad = (lead == 0xC2 && next < 0xA0) || (lead == 0xE0 && next < 0xA0) || (lead == 0xED && next > 0x9F) ||
                   (lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next > 0x8F);
  return bad ? 0 : length;
}

std::string escaped(char c) {
  switch (c) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    default: return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

}  // namespace

std::vector<Glyph> glyphs(std::string_view text) {
  std::vector<Glyph> result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    const bool control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7F;
    if (length == 0 || control) {
      const std::string shown = escaped(text[i]);
      result.push_back({shown, i, shown.size()});
      ++i;
    } else {
      result.push_back({std::string(text.substr(i, length)), i, 1});
      i += length;
    }
  }
  return result;
}

}  // namespace heddle::support
