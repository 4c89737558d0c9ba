// Pictures of masks from cells counted here pair by pair: shades, scenes, SVG, PNG, terminal text.
#include <gtest/gtest.h>
#include <png.h>

#include <array>
#include <functional>
#include <numeric>

#include "src/engine/picture/axis.h"
#include "src/engine/picture/font.h"
#include "src/engine/picture/legend.h"
#include "src/engine/picture/png.h"
#include "src/engine/picture/shades.h"
#include "src/engine/picture/svg.h"
#include "src/engine/picture/terminal.h"

namespace heddle::engine {
namespace {

using Allowed = std::function<bool(int64_t, int64_t)>;

struct Geometry {
  int64_t sq, sk, cell_rows = 1, cell_cols = 1, tile_rows = 4, tile_cols = 4;
};

PictureCells cells_of(const Allowed& allowed, const Geometry& at, std::string mask = "k <= q") {
  PictureCells cells;
  cells.mask = std::move(mask), cells.proof = "symbolic";
  cells.sq = at.sq, cells.sk = at.sk, cells.cell_rows = at.cell_rows, cells.cell_cols = at.cell_cols;
  cells.rows = (at.sq + at.cell_rows - 1) / at.cell_rows, cells.cols = (at.sk + at.cell_cols - 1) / at.cell_cols;
  cells.tile_rows = at.tile_rows, cells.tile_cols = at.tile_cols;
  cells.allowed.resize(cells.rows * cells.cols);
  for (int64_t q = 0; q < at.sq; ++q) {
    for (int64_t k = 0; k < at.sk; ++k) cells.allowed[q / at.cell_rows * cells.cols + k / at.cell_cols] += allowed(q, k);
  }
  cells.nnz = std::accumulate(cells.allowed.begin(), cells.allowed.end(), int64_t{0});
  return cells;
}

bool causal(int64_t q, int64_t k) { return k <= q; }

TEST(Shades, FollowTheClassOfTheTile) {
  const PictureCells cells = cells_of(causal, {8, 8});
  const std::vector<Shade> found = shades(cells);
  for (int64_t q = 0; q < 8; ++q) {
    for (int64_t k = 0; k < 8; ++k) {
      const Shade wanted = q / 4 > k / 4 ? Shade::Full : q / 4 < k / 4 ? Shade::Empty : k <= q ? Shade::All : Shade::None;
      EXPECT_EQ(found[q * 8 + k], wanted) << q << " " << k;
    }
  }
}

TEST(Shades, CellsLargerThanTilesAreTheirOwnTiles) {
  const std::vector<Shade> found = shades(cells_of(causal, {16, 16, 8, 8, 4, 4}));
  EXPECT_EQ(found, (std::vector{Shade::UpTo75, Shade::Empty, Shade::Full, Shade::UpTo75}));
}

TEST(Shades, EdgesAreClipped) {
  const auto everything = [](int64_t, int64_t) { return true; };
  for (const Shade shade : shades(cells_of(everything, {7, 5, 2, 2}))) EXPECT_EQ(shade, Shade::Full);
}

TEST(Shades, GrowWithTheShareOfPairs) {
  const auto share = [](int64_t pairs) {
    return shades(cells_of([=](int64_t, int64_t k) { return k < pairs; }, {1, 1000, 1, 1000, 1, 1000})).front();
  };
  EXPECT_EQ(share(0), Shade::Empty);
  EXPECT_EQ(share(1), Shade::UpTo1);
  EXPECT_EQ(share(10), Shade::UpTo1);
  EXPECT_EQ(share(100), Shade::UpTo10);
  EXPECT_EQ(share(101), Shade::UpTo25);
  EXPECT_EQ(share(750), Shade::UpTo75);
  EXPECT_EQ(share(999), Shade::Below100);
  EXPECT_EQ(share(1000), Shade::Full);
}

TEST(Patches, CoverEveryCellOnceWithItsShade) {
  const int64_t rows = 37, cols = 53;
  const std::vector<Shade> all = shades(cells_of([](int64_t q, int64_t k) { return (q / 3 + k / 5) % 3 == 0; }, {rows, cols}));
  std::vector<int> covered(rows * cols);
  const std::vector<Patch> found = patches(all, rows, cols);
  for (const Patch& patch : found) {
    for (int64_t r = patch.row; r < patch.row + patch.rows; ++r) {
      for (int64_t c = patch.col; c < patch.col + patch.cols; ++c) {
        ++covered[r * cols + c];
        ASSERT_EQ(all[r * cols + c], patch.shade);
      }
    }
  }
  EXPECT_EQ(covered, std::vector<int>(rows * cols, 1));
  EXPECT_LT(found.size(), all.size());
  EXPECT_EQ(patches(std::vector(12, Shade::Full), 3, 4), (std::vector<Patch>{{0, 0, 3, 4, Shade::Full}}));
}

TEST(Axis, Ticks) {
  EXPECT_EQ(ticks(0, 4), std::vector<int64_t>{0});
  EXPECT_EQ(ticks(1, 4), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(ticks(4096, 4), (std::vector<int64_t>{0, 1024, 2048, 3072, 4096}));
  EXPECT_EQ(ticks(1000, 4), (std::vector<int64_t>{0, 256, 512, 768, 1000}));
  EXPECT_EQ(ticks(1030, 4), (std::vector<int64_t>{0, 512, 1024}));
}

TEST(Axis, CellLimitsKeepTheProportion) {
  const auto limits = [](int64_t sq, int64_t sk) {
    const CellLimits found = cell_limits(sq, sk, 256);
    return std::pair(found.rows, found.cols);
  };
  EXPECT_EQ(limits(1000, 1000), std::pair(int64_t{256}, int64_t{256}));
  EXPECT_EQ(limits(500, 1000), std::pair(int64_t{128}, int64_t{256}));
  EXPECT_EQ(limits(int64_t{1} << 30, 1), std::pair(int64_t{256}, int64_t{32}));
  EXPECT_EQ(limits(0, 0), std::pair(int64_t{32}, int64_t{32}));
}

TEST(Legend, Texts) {
  const PictureCells cells = cells_of(causal, {8, 8, 2, 4});
  EXPECT_EQ(pairs_text(cells), "36 of 8 x 8 pairs allowed (56.2%)");
  EXPECT_EQ(cell_text(cells), "one cell: 2 x 4 pairs");
  EXPECT_EQ(cell_text(cells_of(causal, {2, 2})), "one cell: one pair");
  EXPECT_EQ(facts_text(cells), "facts: symbolic");
  PictureCells estimated = cells;
  estimated.sampled = 3;
  EXPECT_EQ(pairs_text(estimated), "about 36 of 8 x 8 pairs allowed (56.2%)");
  EXPECT_EQ(cell_text(estimated), "one cell: 2 x 4 pairs, 3 of them sampled");
  EXPECT_EQ(facts_text(estimated), "estimated: an exact count takes too long");
  EXPECT_EQ(tile_text(cells), "tiles 4x4");
  EXPECT_EQ(nothing_text(cells_of(causal, {0, 5})), "0 queries and 5 keys: there is no pair to draw");
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST(Svg, EscapesTheFormula) {
  const std::string text = svg(scene_of(cells_of(causal, {8, 8}, "k <= q && \"q\" > 1\n\x01")));
  EXPECT_NE(text.find("<title>k &lt;= q &amp;&amp; &quot;q&quot; &gt; 1\\n\\x01</title>"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x01'), std::string::npos);
}

TEST(Svg, NamesCountsAndAxes) {
  PictureCells cells = cells_of(causal, {8, 8});
  cells.tiles = {11, 22, 33};
  const std::string text = svg(scene_of(cells));
  for (const char* part : {">full tiles 4x4: 11<", ">partial tiles 4x4: 22<", ">empty tiles 4x4: 33<", ">q<", ">k<", ">8<",
                           ">one cell: one pair; facts: symbolic<", ">36 of 8 x 8 pairs allowed (56.2%)<"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Svg, EqualNeighboursAreOneBox) {
  const std::string text = svg(scene_of(cells_of(causal, {4096, 4096, 16, 16, 64, 64})));
  EXPECT_LT(text.size(), 60000u);
}

/// Decoded with libpng's general reader.
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;
  uint32_t at(int x, int y) const {
    const uint8_t* const p = rgb.data() + 3 * (static_cast<size_t>(y) * width + x);
    return static_cast<uint32_t>(p[0]) << 16 | static_cast<uint32_t>(p[1]) << 8 | p[2];
  }
};

Image decoded(const std::string& bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0) << image.message;
  image.format = PNG_FORMAT_RGB;
  Image result{static_cast<int>(image.width), static_cast<int>(image.height), std::vector<uint8_t>(PNG_IMAGE_SIZE(image))};
  EXPECT_NE(png_image_finish_read(&image, nullptr, result.rgb.data(), 0, nullptr), 0) << image.message;
  return result;
}

/// Every pixel inside of a box and of no later one has the colour of its layer.
TEST(Png, ShowsTheScene) {
  Scene scene = scene_of(cells_of(causal, {8, 8}));
  const std::string bytes = png(scene);
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const Image image = decoded(bytes);
  ASSERT_EQ(image.width, scene.width);
  ASSERT_EQ(image.height, scene.height);
  scene.labels.clear();
  const Image bare = decoded(png(scene));
  std::vector<uint32_t> wanted(static_cast<size_t>(scene.width) * scene.height, 0xFFFFFF);
  for (const Layer& layer : scene.layers) {
    for (const Box& box : layer.boxes) {
      for (int y = box.y; y < box.y + box.height; ++y) {
        for (int x = box.x; x < box.x + box.width; ++x) wanted.at(static_cast<size_t>(y) * scene.width + x) = layer.colour;
      }
    }
  }
  for (int y = 0; y < scene.height; ++y) {
    for (int x = 0; x < scene.width; ++x) {
      ASSERT_EQ(bare.at(x, y), wanted[static_cast<size_t>(y) * scene.width + x]) << x << " " << y;
      const uint32_t pixel = image.at(x, y);
      ASSERT_TRUE(pixel == bare.at(x, y) || pixel == kInk) << x << " " << y;
    }
  }
}

TEST(Png, LabelsStandWhereTheyBelong) {
  const auto ink = [](Label::Anchor anchor) {
    Scene scene;
    scene.width = 100, scene.height = 20;
    scene.labels.push_back({50, 3, anchor, "II"});
    const Image image = decoded(png(scene));
    std::pair<int, int> range{100, -1};
    for (int y = 0; y < 20; ++y) {
      for (int x = 0; x < 100; ++x) {
        if (image.at(x, y) != kInk) continue;
        EXPECT_TRUE(y >= 3 && y < 3 + kTextHeight);
        range = {std::min(range.first, x), std::max(range.second, x)};
      }
    }
    return range;
  };
  EXPECT_EQ(ink(Label::Anchor::Start), std::pair(52, 69));
  EXPECT_EQ(ink(Label::Anchor::Middle), std::pair(41, 58));
  EXPECT_EQ(ink(Label::Anchor::End), std::pair(30, 47));
}

TEST(Font, EveryCharacterIsItsOwn) {
  for (char a = '!'; a <= '~'; ++a) {
    EXPECT_NE(glyph(a), glyph(' ')) << a;
    for (char b = '!'; b < a; ++b) EXPECT_NE(glyph(a), glyph(b)) << a << b;
  }
  EXPECT_EQ(glyph('\n'), glyph('?'));
  EXPECT_EQ(glyph('\xC3'), glyph('?'));
}

TEST(Scene, BoxesAndLabelsLieInside) {
  for (const Geometry& at : {Geometry{1, 1}, {8, 8}, {129, 3}, {1, 4096, 1, 16}, {1 << 12, 2, 16, 1}, {500, 333, 2, 2, 64, 64}, {0, 9}}) {
    const Scene scene = scene_of(cells_of(causal, at));
    for (const Layer& layer : scene.layers) {
      for (const Box& box : layer.boxes) {
        EXPECT_TRUE(box.x >= 0 && box.y >= 0 && box.width > 0 && box.height > 0);
        EXPECT_TRUE(box.x + box.width <= scene.width && box.y + box.height <= scene.height) << at.sq << "x" << at.sk;
      }
    }
    for (const Label& label : scene.labels) {
      const int width = static_cast<int>(label.text.size()) * kTextAdvance;
      const int start = label.anchor == Label::Anchor::Start ? label.x : label.anchor == Label::Anchor::Middle ? label.x - width / 2 : label.x - width;
      EXPECT_TRUE(start >= 0 && start + width <= scene.width + kTextAdvance) << label.text << " " << at.sq << "x" << at.sk;
      EXPECT_TRUE(label.y >= 0 && label.y + kTextHeight <= scene.height) << label.text;
    }
  }
}

TEST(TextPicture, FitsItsWidth) {
  for (const int width : {kLeastTextWidth, 40, 80, 200}) {
    for (const auto& [sq, sk] : {std::pair<int64_t, int64_t>{9, 9}, {100, 100}, {3, 900}, {900, 3}}) {
      const CellLimits limits = text_limits(sq, sk, width);
      const Geometry at{sq, sk, (sq + limits.rows - 1) / limits.rows, (sk + limits.cols - 1) / limits.cols};
      std::string text = text_picture(cells_of(causal, at), {.width = width, .unicode = false});
      text.resize(text.find("tiles 4x4"));  // The legend follows.
      size_t start = 0;
      for (size_t end = text.find('\n'); end != std::string::npos; start = end + 1, end = text.find('\n', start)) {
        const std::string line = text.substr(start, end - start);
        EXPECT_LE(line.size(), static_cast<size_t>(width)) << line;
      }
    }
  }
}

TEST(TextPicture, ColourOnlyWhereAsked) {
  const PictureCells cells = cells_of(causal, {8, 8});
  EXPECT_EQ(text_picture(cells, {.colour = false}).find('\x1b'), std::string::npos);
  const std::string coloured = text_picture(cells, {.colour = true});
  EXPECT_NE(coloured.find("\x1b[38;5;32m"), std::string::npos);
  std::string plain;
  for (size_t at = 0; at < coloured.size(); ++at) {
    if (coloured[at] == '\x1b') {
      at = coloured.find('m', at);
    } else {
      plain += coloured[at];
    }
  }
  EXPECT_EQ(plain, text_picture(cells, {.colour = false}));
  EXPECT_EQ(count_of(coloured, "\x1b[0m") * 2, count_of(coloured, "\x1b["));
}

}  // namespace
}  // namespace heddle::engine
