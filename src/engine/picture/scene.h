// A picture of a mask as boxes and texts in pixels, whatever it is written as.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/engine/picture/picture_cells.h"

namespace heddle::engine {

struct Box {
  int x, y, width, height;
};

/// Boxes of one colour, 0xRRGGBB.
struct Layer {
  uint32_t colour;
  std::vector<Box> boxes;
};

/// Text of printable ASCII; (x, y) is the top of its start, middle or end.
struct Label {
  enum class Anchor { Start, Middle, End };
  int x, y;
  Anchor anchor;
  std::string text;
};

/// Layers are painted in their order on white, labels above them.
struct Scene {
  int width = 0, height = 0;
  std::string title, description;
  std::vector<Layer> layers;
  std::vector<Label> labels;
};

inline constexpr uint32_t kInk = 0x222222;       ///< Colour of labels.
inline constexpr int kTextHeight = 14;           ///< Pixels of a capital letter.
inline constexpr int kTextAdvance = 12;          ///< Pixels from one character to the next, at most.

/// The mask with axes (q down, k across), tile borders where there is room for them, and a legend with counts.
Scene scene_of(const PictureCells& cells);

}  // namespace heddle::engine
