// How the cells of a picture look: the class of their tile, and how much of a cell is allowed.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/engine/picture/picture_cells.h"

namespace heddle::engine {

/// Empty and Full: no pair, or every pair of the tile is allowed. The others are cells of partial tiles, by their own share of allowed
/// pairs: none, up to 1%, 10%, 25%, 75%, less than all, all.
enum class Shade : uint8_t { Empty, Full, None, UpTo1, UpTo10, UpTo25, UpTo75, Below100, All };
inline constexpr size_t kShades = 9;

struct ShadeLook {
  uint32_t colour;         ///< 0xRRGGBB: grey, blue and a scale of orange, apart for colour-blind eyes too.
  std::string_view share;  ///< Of allowed pairs, for the legend.
  std::string_view block, ascii;  ///< In a terminal.
};
const ShadeLook& look(Shade shade);

/// The shade of every cell, row-major. A cell larger than a tile counts as a tile of its own; so does a cell that tiles would cut.
std::vector<Shade> shades(const PictureCells& cells);

/// A rectangle of cells of one shade.
struct Patch {
  int64_t row, col, rows, cols;
  Shade shade;
  bool operator==(const Patch&) const = default;
};

/// Patches that cover every cell once: runs of a row, joined with equal runs of the rows below.
std::vector<Patch> patches(const std::vector<Shade>& shades, int64_t rows, int64_t cols);

}  // namespace heddle::engine
