#include "src/engine/picture/legend.h"

#include <fmt/format.h>

namespace heddle::engine {

std::string pairs_text(const PictureCells& cells) {
  const double pairs = static_cast<double>(cells.sq) * static_cast<double>(cells.sk);
  const std::string text = fmt::format("{}{} of {} x {} pairs allowed", about(cells), cells.nnz, cells.sq, cells.sk);
  return pairs == 0 ? text : text + fmt::format(" ({:.3g}%)", 100 * static_cast<double>(cells.nnz) / pairs);
}

std::string cell_text(const PictureCells& cells) {
  if (shows_pairs(cells)) return "one cell: one pair";
  const std::string text = fmt::format("one cell: {} x {} pairs", cells.cell_rows, cells.cell_cols);
  return cells.sampled == 0 ? text : text + fmt::format(", {} of them sampled", cells.sampled);
}

std::string facts_text(const PictureCells& cells) {
  return cells.sampled == 0 ? "facts: " + cells.proof : "estimated: an exact count takes too long";
}

const char* about(const PictureCells& cells) { return cells.sampled == 0 ? "" : "about "; }

std::string tile_text(const PictureCells& cells) { return fmt::format("tiles {}x{}", cells.tile_rows, cells.tile_cols); }

std::string nothing_text(const PictureCells& cells) {
  return fmt::format("{} queries and {} keys: there is no pair to draw", cells.sq, cells.sk);
}

}  // namespace heddle::engine
