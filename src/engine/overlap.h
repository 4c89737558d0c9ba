// Exact questions about the memory that strided views touch: do two views share a byte, does one view touch a byte twice?
//
// Both are bounded linear Diophantine problems (as numpy.shares_memory): sum of stride * index, each index in a range, meets an
// interval. They are answered exactly by a search over strides from the largest to the smallest, which takes a handful of steps for
// views that are nested as slices, transposes and packed buffers are. Where strides are so odd that the search passes
// kOverlapSteps steps the answer is "yes": such views are refused although they may be disjoint.
#pragma once
#include <cstdint>
#include "heddle/tensor.h"

namespace heddle::engine {

inline constexpr int kOverlapSteps = 4096;

/// Views of rank <= 4 with positive or zero dims and byte extents below 2^63. An empty view shares nothing.
bool share_memory(const Tensor& a, const Tensor& b);

/// True when two different index tuples of the view share a byte.
bool overlaps_itself(const Tensor& view);

}  // namespace heddle::engine
