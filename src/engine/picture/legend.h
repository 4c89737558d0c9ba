// What the legends of all pictures of a mask say.
#pragma once
#include <string>

#include "src/engine/picture/picture_cells.h"

namespace heddle::engine {

/// "about " in front of numbers that are estimated.
const char* about(const PictureCells& cells);
/// "1234 of 4096 x 4096 pairs allowed (7.4%)"
std::string pairs_text(const PictureCells& cells);
/// "one cell: one pair", "one cell: 16 x 16 pairs", "one cell: 4096 x 4096 pairs, 144 of them sampled"
std::string cell_text(const PictureCells& cells);
/// Where the numbers come from: "facts: symbolic", or that they are estimated.
std::string facts_text(const PictureCells& cells);
/// "tiles 64x64"
std::string tile_text(const PictureCells& cells);
/// What is said in place of a picture when a length is 0.
std::string nothing_text(const PictureCells& cells);

}  // namespace heddle::engine
