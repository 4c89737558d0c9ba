// A scene as a self-contained SVG document.
#pragma once
#include <string>

#include "src/engine/picture/scene.h"

namespace heddle::engine {

/// Deterministic; boxes of a layer are one path. Texts are escaped.
std::string svg(const Scene& scene);

}  // namespace heddle::engine
