// A picture of a mask as lines of text for a terminal.
#pragma once
#include <string>

#include "src/engine/picture/axis.h"
#include "src/engine/picture/picture_cells.h"

namespace heddle::engine {

struct TextStyle {
  int width = 80;       ///< Columns of the terminal, at least kLeastTextWidth.
  bool unicode = true;  ///< Block characters; ASCII otherwise.
  bool colour = false;  ///< SGR colours of the 256-colour palette.
};
inline constexpr int kLeastTextWidth = 24;

/// Most cells that text_picture() has room for. A character is about twice as high as wide, so cells are drawn two characters wide
/// where each is a pair, and cover twice as many queries as keys elsewhere.
CellLimits text_limits(int64_t sq, int64_t sk, int width);

/// Axes, cells and a legend with counts; lines end in '\n' and have no trailing spaces.
std::string text_picture(const PictureCells& cells, const TextStyle& style);

}  // namespace heddle::engine
