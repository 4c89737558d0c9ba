// A font of 5 x 7 dots for the printable ASCII characters, for pictures without a text renderer.
#pragma once
#include <array>
#include <cstdint>

namespace heddle::engine {

/// Five columns of seven dots, left to right; bit 0 is the top.
using Glyph5x7 = std::array<uint8_t, 5>;

/// The character's dots; those of '?' for anything that is not printable ASCII.
const Glyph5x7& glyph(char character);

}  // namespace heddle::engine
