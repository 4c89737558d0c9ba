// Affine components of rows (ACSR): loops over keys as offset, stride and count.
#pragma once
#include <vector>
#include "src/analysis/facts.h"

namespace heddle::analysis {

/// The pieces of `rows` that are one loop without inner conditions. Pieces are disjoint, so components are too.
std::vector<AffineComponent> affine_components(const ir::LoopNest& rows);

}  // namespace heddle::analysis
