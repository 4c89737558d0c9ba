#include "src/engine/picture/png.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "heddle/error.h"
#include "src/engine/picture/font.h"

namespace heddle::engine {
namespace {

constexpr int kDot = kTextHeight / 7;  ///< Pixels of a dot of the font.

/// An image of palette indices that paints outside of it nothing.
class Raster {
 public:
  Raster(int width, int height) : width_(width), height_(height), pixels_(static_cast<size_t>(width) * height, index_of(0xFFFFFF)) {}

  void fill(const Box& box, uint32_t colour) {
    const uint8_t index = index_of(colour);
    const int left = std::clamp(box.x, 0, width_), right = std::clamp(box.x + box.width, left, width_);
    for (int y = std::max(box.y, 0); y < std::min(box.y + box.height, height_); ++y) {
      uint8_t* const row = pixels_.data() + static_cast<size_t>(y) * width_;
      std::fill(row + left, row + right, index);
    }
  }

  void write(const Label& label) {
    const int width = static_cast<int>(label.text.size()) * kTextAdvance - kDot;
    int x = label.anchor == Label::Anchor::Start ? label.x : label.anchor == Label::Anchor::Middle ? label.x - width / 2 : label.x - width;
    for (const char character : label.text) {
      write(character, x, label.y);
      x += kTextAdvance;
    }
  }

  const std::vector<uint8_t>& pixels() const { return pixels_; }
  /// Three bytes a colour.
  std::vector<uint8_t> palette() const {
    std::vector<uint8_t> bytes;
    for (const uint32_t colour : colours_) {
      for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<uint8_t>(colour >> shift));
    }
    return bytes;
  }

 private:
  void write(char character, int x, int y) {
    const Glyph5x7& dots = glyph(character);
    for (int column = 0; column < 5; ++column) {
      for (int row = 0; row < 7; ++row) {
        if (dots[column] >> row & 1) fill({x + column * kDot, y + row * kDot, kDot, kDot}, kInk);
      }
    }
  }

  uint8_t index_of(uint32_t colour) {
    const auto at = std::find(colours_.begin(), colours_.end(), colour);
    const auto index = static_cast<uint8_t>(at - colours_.begin());
    if (at == colours_.end()) colours_.push_back(colour);
    return index;
  }

  int width_, height_;
  std::vector<uint32_t> colours_;
  std::vector<uint8_t> pixels_;
};

std::string encode(const Raster& raster, const Scene& scene) {
  const std::vector<uint8_t> palette = raster.palette();
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(scene.width);
  image.height = static_cast<png_uint_32>(scene.height);
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.colormap_entries = static_cast<png_uint_32>(palette.size() / 3);
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, raster.pixels().data(), 0, palette.data())) {
    throw RuntimeError(fmt::format("cannot encode the picture as PNG: {}", image.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::string png(const Scene& scene) {
  Raster raster(scene.width, scene.height);
  for (const Layer& layer : scene.layers) {
    for (const Box& box : layer.boxes) raster.fill(box, layer.colour);
  }
  for (const Label& label : scene.labels) raster.write(label);
  return encode(raster, scene);
}

}  // namespace heddle::engine
