// The mask families of the literature that facts are tested on, by name.
#pragma once
#include <string>
#include <vector>
#include "test/analysis/facts_check.h"

namespace heddle::analysis::test {

struct MaskFamily {
  std::string name, text;
  Ints dynamic = {};       ///< Dynamic parameters and the values to test with.
  int64_t line = 0;        ///< Square images of this width: lengths are line * line, or a few lines where `tall`.
};

std::vector<MaskFamily> mask_families();
/// Two-dimensional families over images `width` wide (and high).
std::vector<MaskFamily> image_families();

}  // namespace heddle::analysis::test
