// A scene as a PNG image, texts in dots.
#pragma once
#include <string>

#include "src/engine/picture/scene.h"

namespace heddle::engine {

/// Eight bits a pixel with a colour map. Throws RuntimeError when libpng refuses.
std::string png(const Scene& scene);

}  // namespace heddle::engine
