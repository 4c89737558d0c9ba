// Splits text into what a terminal shows column by column, so that carets stand under the bytes they mean.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::support {

/// One UTF-8 character, control character or stray byte of a text.
struct Glyph {
  std::string shown;  ///< Itself, or its escape: `\t`, `\x1b`.
  size_t offset;      ///< First byte in the text.
  size_t columns;     ///< Terminal columns of `shown`, one a character.
};

std::vector<Glyph> glyphs(std::string_view text);

}  // namespace heddle::support
