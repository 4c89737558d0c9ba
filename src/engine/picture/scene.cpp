#include "src/engine/picture/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/engine/picture/axis.h"
#include "src/engine/picture/legend.h"
#include "src/engine/picture/shades.h"
#include "src/support/text.h"

namespace heddle::engine {
namespace {

constexpr int kMargin = 16, kGap = 8, kTick = 5, kLine = 24;
constexpr int kPlot = 768;                       ///< Pixels of the plot's longer side, about.
constexpr int kLargestCell = 24, kThinnest = 96; ///< Pixels of a cell at most; of the plot's shorter side at least, if cells allow.
constexpr int kLeastWidth = 720;
constexpr int kRoomForBorder = 8;                ///< Pixels that a tile or pair must have to get a border.
constexpr uint32_t kFrame = 0x444444, kTileBorder = 0x8A8F94, kPairBorder = 0xFFFFFF;

using Anchor = Label::Anchor;

int text_width(const std::string& text) { return static_cast<int>(text.size()) * kTextAdvance; }

/// One axis of the plot in pixels.
struct Axis {
  int64_t length, cell, cells, tile;
  int pixels = 1;  ///< Of a cell.

  int size() const { return static_cast<int>(cells) * pixels; }
  /// Pixel at which position `at` begins, the end of a clipped last cell being the end of the plot.
  int pixel(int64_t at) const {
    return at >= length ? size() : static_cast<int>(static_cast<double>(at) / static_cast<double>(cell) * pixels);
  }
  bool has_tile_borders() const { return tile % cell == 0 && tile / cell * pixels >= kRoomForBorder; }
  bool has_pair_borders() const { return cell == 1 && pixels >= kRoomForBorder; }
};

class Painter {
 public:
  explicit Painter(const PictureCells& cells)
      : cells_(cells),
        down_{cells.sq, cells.cell_rows, cells.rows, cells.tile_rows},
        across_{cells.sk, cells.cell_cols, cells.cols, cells.tile_cols} {
    const auto longest = static_cast<int>(std::max<int64_t>({cells.rows, cells.cols, 1}));
    const int square = std::clamp(kPlot / longest, 1, kLargestCell);
    for (Axis* axis : {&down_, &across_}) {
      const auto own = static_cast<int>(std::max<int64_t>(axis->cells, 1));
      axis->pixels = std::max(square, std::min(kLargestCell, kThinnest / own));
    }
    left_ = kMargin + 2 * kTextAdvance + text_width(std::to_string(cells.sq)) + kTick + kGap;
    top_ = kMargin + 2 * kLine + kTextHeight + kTick + kGap;
  }

  Scene paint() {
    scene_.width = std::max(kLeastWidth, left_ + across_.size() + text_width(std::to_string(cells_.sk)) / 2 + kMargin);
    scene_.title = cells_.mask;
    scene_.description = pairs_text(cells_);
    add_title();
    if (cells_.allowed.empty()) {
      label(kMargin, kMargin + kLine, Anchor::Start, nothing_text(cells_));
      scene_.height = kMargin + 3 * kLine;
      return std::move(scene_);
    }
    add_cells();
    add_borders();
    add_axes();
    add_legend();
    return std::move(scene_);
  }

 private:
  void box(uint32_t colour, Box box) {
    if (scene_.layers.empty() || scene_.layers.back().colour != colour) scene_.layers.push_back({colour, {}});
    scene_.layers.back().boxes.push_back(box);
  }
  void label(int x, int y, Anchor anchor, std::string text) { scene_.labels.push_back({x, y, anchor, std::move(text)}); }

  void add_title() {
    const auto room = static_cast<size_t>((scene_.width - 2 * kMargin) / kTextAdvance);
    label(kMargin, kMargin, Anchor::Start, support::shorten(support::escape(cells_.mask), room));
  }

  void add_cells() {
    std::array<std::vector<Box>, kShades> boxes;
    for (const Patch& patch : patches(shades(cells_), cells_.rows, cells_.cols)) {
      const int width = across_.pixels, height = down_.pixels;
      boxes[static_cast<size_t>(patch.shade)].push_back({left_ + static_cast<int>(patch.col) * width, top_ + static_cast<int>(patch.row) * height,
                                                         static_cast<int>(patch.cols) * width, static_cast<int>(patch.rows) * height});
    }
    for (size_t i = 0; i < kShades; ++i) {
      if (!boxes[i].empty()) scene_.layers.push_back({look(static_cast<Shade>(i)).colour, std::move(boxes[i])});
    }
  }

  /// A line across the whole plot in front of position `at` of an axis.
  void border(uint32_t colour, const Axis& axis, int64_t at) {
    const bool row = &axis == &down_;
    const int offset = axis.pixel(at);
    box(colour, row ? Box{left_, top_ + offset, across_.size(), 1} : Box{left_ + offset, top_, 1, down_.size()});
  }

  void add_borders() {
    for (const Axis* axis : {&down_, &across_}) {
      for (int64_t at = 1; at < axis->length && axis->has_pair_borders(); ++at) border(kPairBorder, *axis, at);
    }
    for (const Axis* axis : {&down_, &across_}) {
      for (int64_t at = axis->tile; at < axis->length && axis->has_tile_borders(); at += axis->tile) border(kTileBorder, *axis, at);
    }
    for (const Axis* axis : {&down_, &across_}) {
      border(kFrame, *axis, 0);
      border(kFrame, *axis, axis->length);
    }
  }

  void add_axes() {
    label(left_ + across_.size() / 2, kMargin + kLine, Anchor::Middle, "k");
    label(kMargin, top_ + (down_.size() - kTextHeight) / 2, Anchor::Start, "q");
    const int text_top = top_ - kTick - kGap / 2 - kTextHeight;
    for (const int64_t at : ticks(cells_.sk, across_.size() >= kPlot / 2 ? 4 : 2)) {
      const int x = left_ + across_.pixel(at);
      box(kFrame, {x, top_ - kTick, 1, kTick});
      label(x, text_top, Anchor::Middle, std::to_string(at));
    }
    for (const int64_t at : ticks(cells_.sq, std::clamp(down_.size() / (2 * kLine), 2, 8))) {
      const int y = top_ + down_.pixel(at);
      box(kFrame, {left_ - kTick, y, kTick, 1});
      label(left_ - kTick - kGap / 2, y - kTextHeight / 2, Anchor::End, std::to_string(at));
    }
  }

  /// A filled square and a text at (x, y); returns where the next may begin.
  int swatch(int x, int y, Shade shade, const std::string& text) {
    box(kFrame, {x, y, kTextHeight, kTextHeight});
    box(look(shade).colour, {x + 1, y + 1, kTextHeight - 2, kTextHeight - 2});
    label(x + kTextHeight + kGap, y, Anchor::Start, text);
    return x + kTextHeight + 2 * kGap + text_width(text) + kGap;
  }

  void add_legend() {
    int y = top_ + down_.size() + kLine;
    const TileTally& tiles = cells_.tiles;
    for (const auto& [shade, text] : {std::pair{Shade::Full, fmt::format("full {}: {}{}", tile_text(cells_), about(cells_), tiles.full)},
                                      {Shade::All, fmt::format("partial {}: {}{}", tile_text(cells_), about(cells_), tiles.partial)},
                                      {Shade::Empty, fmt::format("empty {}: {}{}", tile_text(cells_), about(cells_), tiles.empty)}}) {
      swatch(kMargin, y, shade, text);
      y += kLine;
    }
    label(kMargin, y, Anchor::Start, "allowed pairs of a cell in partial tiles:");
    y += kLine;
    add_scale(y);
    y += kLine;
    label(kMargin, y, Anchor::Start, cell_text(cells_) + "; " + facts_text(cells_));
    y += kLine;
    label(kMargin, y, Anchor::Start, pairs_text(cells_));
    scene_.height = y + kLine + kMargin / 2;
  }

  void add_scale(int y) {
    int x = kMargin;
    for (size_t i = static_cast<size_t>(Shade::None); i < kShades; ++i) {
      const auto shade = static_cast<Shade>(i);
      if (shows_pairs(cells_) && shade != Shade::None && shade != Shade::All) continue;
      x = swatch(x, y, shade, std::string(look(shade).share));
    }
  }

  const PictureCells& cells_;
  Axis down_, across_;
  int left_ = 0, top_ = 0;
  Scene scene_;
};

}  // namespace

Scene scene_of(const PictureCells& cells) { return Painter(cells).paint(); }

}  // namespace heddle::engine
