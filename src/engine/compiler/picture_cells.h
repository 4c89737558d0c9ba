// The cells and tile classes of a picture of a mask, from its facts.
#pragma once
#include "src/engine/compiler.h"

namespace heddle::engine {

/// How many positions of `length` a cell spans so that at most `most` (>= 1) cells do: the fewest, or up to twice as many where cells
/// then fit into tiles or tiles into cells.
int64_t cell_size(int64_t length, int64_t most, int64_t tile);

/// Analyses the mask and counts, in bounded time: where an exact count takes too many steps, cells and tiles are estimated. Throws
/// UserError when the mask mentions a name without a value.
PictureCells picture_cells(const PictureRequest& request);

}  // namespace heddle::engine
