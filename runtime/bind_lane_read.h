// Reads of a table by lanes of indices.
#pragma once
#include <algorithm>
#include <cstdint>
#include "heddle/tensor.h"
#include "runtime/bind_lanes.h"

namespace heddle::runtime {

namespace lanes {

template <typename T, typename E>
T element(E value, bool flag) {
  return flag ? static_cast<T>(value != 0) : static_cast<T>(value);
}

/// out[i] = data[i * stride].
template <typename T, typename E>
void load(T* __restrict out, int64_t count, const E* __restrict data, int64_t stride, bool flag) {
  if (stride != 1 || flag) {
    for (int64_t i = 0; i < count; ++i) out[i] = element<T>(data[i * stride], flag);
    return;
  }
  for (int64_t i = 0; i < count; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) out[i + j] = static_cast<T>(data[i + j]);
  }
}

template <typename T>
int64_t clamped(LaneOperand<T> index, int64_t lane, int64_t extent) {
  return std::clamp<int64_t>(index.values[index.same ? 0 : lane], 0, extent - 1);
}

/// The dimension along which lanes lie one element apart, all inside the table, or -1. `slopes`: the known step of each index from lane
/// to lane, 1 or -1; 0 for an index that is the same for all lanes; anything else is not known.
template <typename T>
int line_of(const Tensor& table, const LaneOperand<T>* indices, const int8_t* slopes, int64_t count) {
  int line = -1;
  for (int d = 0; d < static_cast<int>(table.rank()); ++d) {
    if (indices[d].same) continue;
    if (line >= 0 || (slopes[d] != 1 && slopes[d] != -1)) return -1;
    const int64_t first = indices[d].values[0], last = indices[d].values[count - 1], extent = table.shape[static_cast<size_t>(d)];
    const bool inside = first >= 0 && last >= 0 && first < extent && last < extent;
    if (!inside || last - first != slopes[d] * (count - 1)) return -1;
    line = d;
  }
  return line;
}

template <typename T, typename E>
void read(const Tensor& table, const LaneOperand<T>* indices, const int8_t* slopes, T* out, int64_t count) {
  const E* data = static_cast<const E*>(table.data);
  const bool flag = table.dtype == DType::Bool;
  const auto offset = [&](int64_t lane) {
    int64_t sum = 0;
    for (size_t d = 0; d < static_cast<size_t>(table.rank()); ++d) sum += clamped(indices[d], lane, table.shape[d]) * table.strides[d];
    return sum;
  };
  const int line = line_of(table, indices, slopes, count);
  if (line >= 0) return load(out, count, data + offset(0), slopes[line] * table.strides[static_cast<size_t>(line)], flag);
  for (int64_t i = 0; i < count; ++i) out[i] = element<T>(data[offset(i)], flag);
}

}  // namespace lanes

/// Elements at indices clamped into the table; 0 of an empty one. `slopes` as in lanes::line_of.
template <typename T>
void lane_read(const Tensor& table, const LaneOperand<T>* indices, const int8_t* slopes, T* out, int64_t count) {
  if (std::ranges::find(table.shape, 0) != table.shape.end()) return fill_lanes(out, count, T{0});
  switch (table.dtype) {
    case DType::Int64: return lanes::read<T, int64_t>(table, indices, slopes, out, count);
    case DType::UInt8: case DType::Bool: return lanes::read<T, uint8_t>(table, indices, slopes, out, count);
    default: return lanes::read<T, int32_t>(table, indices, slopes, out, count);
  }
}

}  // namespace heddle::runtime
