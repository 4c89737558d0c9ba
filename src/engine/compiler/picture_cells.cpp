#include "src/engine/compiler/picture_cells.h"

#include <algorithm>
#include <map>

#include "src/analysis/cells.h"
#include "src/analysis/counts.h"
#include "src/analysis/facts.h"
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

PictureCells picture_cells(const PictureRequest& request) {
  const support::Timer timer;
  const FactsRequest& wanted = request.facts;
  const analysis::Lengths lengths{wanted.sq, wanted.sk};
  const analysis::TileShape tile{request.tile_rows, request.tile_cols};
  const std::map<std::string, int64_t> ints(wanted.ints.begin(), wanted.ints.end());
  const analysis::MaskFacts facts(wanted.mask, {.lengths = lengths});
  analysis::check_countable(facts, lengths);
  const analysis::MaskCounts counts = analysis::count(facts, lengths, {.tiles = {tile}, .threads = wanted.threads}, ints, wanted.tables);
  const analysis::TileShape cell{cell_size(lengths.sq, request.max_rows, tile.rows), cell_size(lengths.sk, request.max_cols, tile.cols)};
  analysis::CellGrid grid = analysis::count_cells(facts, lengths, cell, wanted.threads, ints, wanted.tables);
  const analysis::TileCounts& tiles = counts.tiles.at(tile);
  return {.mask = ir::print(wanted.mask),
          .sq = lengths.sq,
          .sk = lengths.sk,
          .cell_rows = cell.rows,
          .cell_cols = cell.cols,
          .rows = grid.rows,
          .cols = grid.cols,
          .allowed = std::move(grid.allowed),
          .tile_rows = tile.rows,
          .tile_cols = tile.cols,
          .tiles = {tiles.full, tiles.partial, tiles.empty},
          .nnz = counts.nnz,
          .proof = to_string(counts.proof),
          .milliseconds = timer.milliseconds()};
}

}  // namespace heddle::engine
