#include "src/engine/compiler/picture_cells.h"

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

TEST(PictureCells, CellsFitIntoTilesOrTilesIntoCells) {
  EXPECT_EQ(cell_size(100, 256, 64), 1);
  EXPECT_EQ(cell_size(5000, 256, 64), 32);
  EXPECT_EQ(cell_size(1 << 20, 256, 64), 4096);
  EXPECT_EQ(cell_size(0, 256, 64), 1);
}

TEST(PictureCells, NeverTwiceAsCoarseForTheSakeOfTiles) {
  EXPECT_EQ(cell_size(300, 256, 97), 2);
  for (int64_t length = 1; length < 3000; length += 7) {
    for (const int64_t tile : {1, 7, 64, 97, 100}) {
      const int64_t least = (length + 63) / 64, size = cell_size(length, 64, tile);
      EXPECT_TRUE(size >= least && size <= 2 * least) << length << " " << tile << ": " << size;
    }
  }
}

}  // namespace
}  // namespace heddle::engine
