// Elements of a table for many lanes at once: one index of each dimension may vary from lane to lane or be the same for all.
#pragma once
#include <cstdint>
#include <span>
#include "heddle/tensor.h"

namespace heddle::analysis {

struct LaneIndex {
  const int64_t* data;
  bool varies;  ///< False: data[0] for every lane.
};

/// out[i] = ir::int_element(table, indices of lane i) for i in [0, n), n >= 1. Adjacent indices inside the table are read without a
/// gather.
void read_lanes(const Tensor& table, std::span<const LaneIndex> indices, int64_t* out, int n);

}  // namespace heddle::analysis
