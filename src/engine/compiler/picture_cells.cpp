#include "src/engine/compiler/picture_cells.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/engine/compiler/bounded_counts.h"
#include "src/support/timer.h"

namespace heddle::engine {

int64_t cell_size(int64_t length, int64_t most, int64_t tile) {
  const int64_t least = std::max<int64_t>((length + most - 1) / most, 1);
  for (int64_t size = least; size <= std::min(2 * least, tile); ++size) {
    if (tile % size == 0) return size;
  }
  const int64_t whole_tiles = (least + tile - 1) / tile * tile;
  return whole_tiles <= 2 * least ? whole_tiles : least;
}

namespace {

constexpr int64_t kMostSteps = 320'000'000;      ///< Of the tiles, and of the cells: some 0.3 s each on two threads.
constexpr BoundedCounts::BindLimits kBind = {int64_t{1} << 30, int64_t{1} << 22};
constexpr int64_t kSampledPairs = 144;            ///< Of a cell.

/// The grid and the tiles of a picture, and the sampled pairs of a cell.
struct Drawn {
  analysis::CellGrid grid;
  TileTally tiles;
  int64_t sampled = 0;
};

TileTally estimated(const analysis::TileSample& tiles) {
  const auto number = [&](const analysis::Share& share) { return std::llround(share.value * static_cast<double>(tiles.of)); };
  return {number(tiles.full), number(tiles.partial), number(tiles.empty)};
}

Drawn draw(BoundedCounts& bounded, analysis::TileShape tile, analysis::TileShape cell) {
  const auto counts = bounded.count({.tiles = {tile}, .runs = false}, kMostSteps);
  if (counts) {
    if (auto grid = bounded.cells(cell, kMostSteps)) {
      const analysis::TileCounts& tiles = counts->tiles.at(tile);
      return {std::move(*grid), {tiles.full, tiles.partial, tiles.empty}};
    }
  }
  return {bounded.sample_cells(cell, kSampledPairs), estimated(bounded.sample_tiles(tile)), kSampledPairs};
}

}  // namespace

PictureCells picture_cells(const PictureRequest& request) {
  const support::Timer timer;
  const FactsRequest& wanted = request.facts;
  BoundedCounts bounded(wanted, kBind);
  const analysis::TileShape tile{request.tile_rows, request.tile_cols};
  const analysis::TileShape cell{cell_size(wanted.sq, request.max_rows, tile.rows), cell_size(wanted.sk, request.max_cols, tile.cols)};
  Drawn drawn = draw(bounded, tile, cell);
  const int64_t nnz = std::accumulate(drawn.grid.allowed.begin(), drawn.grid.allowed.end(), int64_t{0});
  return {.mask = ir::print(wanted.mask),
          .sq = wanted.sq,
          .sk = wanted.sk,
          .cell_rows = cell.rows,
          .cell_cols = cell.cols,
          .rows = drawn.grid.rows,
          .cols = drawn.grid.cols,
          .allowed = std::move(drawn.grid.allowed),
          .tile_rows = tile.rows,
          .tile_cols = tile.cols,
          .tiles = drawn.tiles,
          .nnz = nnz,
          .sampled = drawn.sampled,
          .proof = to_string(bounded.facts().proof()),
          .milliseconds = timer.milliseconds()};
}

}  // namespace heddle::engine
