#include "src/engine/picture/shades.h"

#include <algorithm>
#include <map>
#include <utility>

namespace heddle::engine {
namespace {

constexpr std::array<ShadeLook, kShades> kLooks = {{{0xE9ECEF, "0%", "·", "."},
                                                    {0x0B5CAD, "100%", "█", "#"},
                                                    {0xFFF7EB, "0%", " ", " "},
                                                    {0xFDE3BE, "<=1%", "░", "-"},
                                                    {0xFBCB8C, "<=10%", "░", "-"},
                                                    {0xF7AE55, "<=25%", "░", "-"},
                                                    {0xEE8F22, "<=75%", "▒", "+"},
                                                    {0xD86F06, "<100%", "▓", "*"},
                                                    {0xB94F00, "100%", "▓", "*"}}};

Shade shade_of_share(int64_t allowed, int64_t pairs) {
  if (allowed == 0) return Shade::None;
  if (allowed == pairs) return Shade::All;
  const double share = static_cast<double>(allowed) / static_cast<double>(pairs);
  if (share <= 0.01) return Shade::UpTo1;
  if (share <= 0.1) return Shade::UpTo10;
  if (share <= 0.25) return Shade::UpTo25;
  return share <= 0.75 ? Shade::UpTo75 : Shade::Below100;
}

/// Positions of cells [first, first + n) of an axis, clipped.
int64_t span(int64_t first, int64_t n, int64_t size, int64_t length) {
  return std::min((first + n) * size, length) - first * size;
}

/// Shades the block of cells [row, row + rows) x [col, col + cols), a tile.
void shade_block(const PictureCells& cells, int64_t row, int64_t rows, int64_t col, int64_t cols, std::vector<Shade>& shades) {
  int64_t allowed = 0;
  for (int64_t r = row; r < row + rows; ++r) {
    for (int64_t c = col; c < col + cols; ++c) allowed += cells.allowed[r * cells.cols + c];
  }
  const int64_t pairs = span(row, rows, cells.cell_rows, cells.sq) * span(col, cols, cells.cell_cols, cells.sk);
  for (int64_t r = row; r < row + rows; ++r) {
    for (int64_t c = col; c < col + cols; ++c) {
      const int64_t own = span(r, 1, cells.cell_rows, cells.sq) * span(c, 1, cells.cell_cols, cells.sk);
      shades[r * cells.cols + c] = allowed == 0       ? Shade::Empty
                                   : allowed == pairs ? Shade::Full
                                                      : shade_of_share(cells.allowed[r * cells.cols + c], own);
    }
  }
}

}  // namespace

const ShadeLook& look(Shade shade) { return kLooks[static_cast<size_t>(shade)]; }

std::vector<Shade> shades(const PictureCells& cells) {
  std::vector<Shade> result(cells.rows * cells.cols);
  const int64_t rows = cells.tile_rows % cells.cell_rows == 0 ? cells.tile_rows / cells.cell_rows : 1;
  const int64_t cols = cells.tile_cols % cells.cell_cols == 0 ? cells.tile_cols / cells.cell_cols : 1;
  for (int64_t row = 0; row < cells.rows; row += rows) {
    for (int64_t col = 0; col < cells.cols; col += cols) {
      shade_block(cells, row, std::min(rows, cells.rows - row), col, std::min(cols, cells.cols - col), result);
    }
  }
  return result;
}

std::vector<Patch> patches(const std::vector<Shade>& shades, int64_t rows, int64_t cols) {
  std::vector<Patch> result;
  std::map<int64_t, size_t> above;  // First column to the patch that ends in the row above.
  for (int64_t row = 0; row < rows; ++row) {
    std::map<int64_t, size_t> here;
    for (int64_t col = 0, end; col < cols; col = end) {
      const auto run = shades.begin() + row * cols;
      end = std::find_if(run + col, run + cols, [&](Shade shade) { return shade != run[col]; }) - run;
      const auto over = above.find(col);
      const bool joins = over != above.end() && result[over->second].cols == end - col && result[over->second].shade == run[col];
      if (!joins) result.push_back({row, col, 0, end - col, run[col]});
      const size_t patch = joins ? over->second : result.size() - 1;
      ++result[patch].rows;
      here[col] = patch;
    }
    above = std::move(here);
  }
  return result;
}

}  // namespace heddle::engine
