#include "src/engine/picture/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "src/engine/picture/legend.h"
#include "src/engine/picture/shades.h"
#include "src/support/text.h"

namespace heddle::engine {
namespace {

constexpr int64_t kMostPairRows = 48, kMostRows = 64;  ///< Lines of a picture of pairs, and of any picture.
constexpr int64_t kFewestRows = 8;

struct Frame {
  std::string_view top_left, top_right, bottom_left, bottom_right, across, down;
};
constexpr Frame kUnicodeFrame = {"┌", "┐", "└", "┘", "─", "│"}, kAsciiFrame = {"+", "+", "+", "+", "-", "|"};

/// Columns to the left of the frame: "q 1024 ".
int64_t left_columns(int64_t sq) { return static_cast<int64_t>(std::to_string(sq).size()) + 3; }
/// Columns for cells, between the frame's sides.
int64_t room(int64_t sq, int width) { return std::max<int64_t>(width - left_columns(sq) - 2, 1); }

int colour_of(Shade shade) {
  constexpr int kBlue = 32, kOrange = 208, kGrey = 245;
  return shade == Shade::Full ? kBlue : shade == Shade::Empty ? kGrey : kOrange;
}

std::string repeated(std::string_view text, int64_t times) {
  std::string result;
  for (int64_t i = 0; i < times; ++i) result += text;
  return result;
}

class TextPainter {
 public:
  TextPainter(const PictureCells& cells, const TextStyle& style)
      : cells_(cells),
        style_(style),
        frame_(style.unicode ? kUnicodeFrame : kAsciiFrame),
        left_(left_columns(cells.sq)),
        wide_(cells.cell_rows == cells.cell_cols && 2 * cells.cols <= room(cells.sq, style.width) ? 2 : 1) {}

  std::string paint() {
    add_line(support::escape(cells_.mask));
    if (cells_.allowed.empty()) {
      add_line(nothing_text(cells_));
      return text_;
    }
    add_key_axis();
    add_rows();
    add_legend();
    return text_;
  }

 private:
  void add_line(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + '\n';
  }

  std::string spaces(int64_t n) const { return std::string(static_cast<size_t>(n), ' '); }

  void add_key_axis() {
    std::string line = spaces(left_ - 1) + "k ";
    const int64_t columns = cells_.cols * wide_;
    for (const int64_t at : ticks(cells_.sk, 4)) {
      const int64_t column = std::min((at + cells_.cell_cols - 1) / cells_.cell_cols * wide_, columns);
      const std::string number = std::to_string(at);
      const int64_t start = left_ + 1 + column;
      if (start <= static_cast<int64_t>(line.size()) && at > 0) continue;
      if (start + static_cast<int64_t>(number.size()) > style_.width) continue;
      line += spaces(start - static_cast<int64_t>(line.size())) + number;
    }
    add_line(line);
    add_line(spaces(left_) + edge(frame_.top_left, frame_.top_right));
  }

  std::string edge(std::string_view start, std::string_view end) const {
    return std::string(start) + repeated(frame_.across, cells_.cols * wide_) + std::string(end);
  }

  /// Row of cells to the query that is written beside it.
  std::map<int64_t, int64_t> row_labels() const {
    std::map<int64_t, int64_t> labels;
    for (const int64_t at : ticks(cells_.sq, std::clamp<int64_t>(cells_.rows / 4, 2, 8))) {
      labels.emplace((at + cells_.cell_rows - 1) / cells_.cell_rows, at);
    }
    return labels;
  }

  std::string row_start(const std::map<int64_t, int64_t>& labels, int64_t row) const {
    const auto label = labels.find(row);
    const std::string number = label == labels.end() ? "" : std::to_string(label->second);
    return fmt::format("{} {:>{}} ", row == 0 ? 'q' : ' ', number, left_ - 3);
  }

  void add_rows() {
    const std::vector<Shade> all = shades(cells_);
    const std::map<int64_t, int64_t> labels = row_labels();
    for (int64_t row = 0; row < cells_.rows; ++row) {
      std::string line = row_start(labels, row) + std::string(frame_.down);
      for (int64_t col = 0, end; col < cells_.cols; col = end) {
        const Shade* const run = all.data() + row * cells_.cols;
        end = std::find_if(run + col, run + cells_.cols, [&](Shade shade) { return shade != run[col]; }) - run;
        line += painted(run[col], (end - col) * wide_);
      }
      add_line(line + std::string(frame_.down));
    }
    add_line(row_start(labels, cells_.rows) + edge(frame_.bottom_left, frame_.bottom_right));
  }

  std::string painted(Shade shade, int64_t times) const {
    const std::string text = repeated(style_.unicode ? look(shade).block : look(shade).ascii, times);
    return style_.colour && shade != Shade::None ? fmt::format("\x1b[38;5;{}m{}\x1b[0m", colour_of(shade), text) : text;
  }

  void add_legend() {
    const TileTally& tiles = cells_.tiles;
    const bool pairs = shows_pairs(cells_);
    const std::string partial = (pairs ? "" : painted(Shade::UpTo25, 1) + painted(Shade::UpTo75, 1)) + painted(Shade::All, 1);
    add_line(fmt::format("{}: {}{} full {}, {} partial {}, {} empty {}", tile_text(cells_), about(cells_), tiles.full, painted(Shade::Full, 1), tiles.partial,
                         partial, tiles.empty, painted(Shade::Empty, 1)));
    if (!pairs) {
      add_line(fmt::format("in partial tiles: {} up to 25%, {} up to 75%, {} more, blank none", painted(Shade::UpTo25, 1), painted(Shade::UpTo75, 1),
                           painted(Shade::All, 1)));
    }
    add_line(fmt::format("{}; {}", cell_text(cells_), facts_text(cells_)));
    add_line(pairs_text(cells_));
  }

  const PictureCells& cells_;
  const TextStyle& style_;
  const Frame& frame_;
  int64_t left_;
  int wide_;  ///< Characters of a cell.
  std::string text_;
};

}  // namespace

CellLimits text_limits(int64_t sq, int64_t sk, int width) {
  const int64_t columns = room(sq, width);
  if (2 * sk <= columns && sq <= kMostPairRows) return {std::max<int64_t>(sq, 1), std::max<int64_t>(sk, 1)};
  const double ratio = static_cast<double>(sq) / static_cast<double>(std::max<int64_t>(sk, 1));
  const double rows = static_cast<double>(std::min(columns, std::max<int64_t>(sk, 1))) * std::min(ratio, 1e6) / 2;
  return {std::clamp(static_cast<int64_t>(std::min(rows, 1e6)), kFewestRows, kMostRows), columns};
}

std::string text_picture(const PictureCells& cells, const TextStyle& style) { return TextPainter(cells, style).paint(); }

}  // namespace heddle::engine
