#include "src/analysis/table_lanes.h"

#include <algorithm>

#include "heddle/error.h"

namespace heddle::analysis {
namespace {

/// Calls use(first element) with the pointer of the table's element type.
template <typename Use>
void with_elements(const Tensor& table, const Use& use) {
  switch (table.dtype) {
    case DType::Int32: return use(static_cast<const int32_t*>(table.data));
    case DType::Int64: return use(static_cast<const int64_t*>(table.data));
    case DType::UInt8: return use(static_cast<const uint8_t*>(table.data));
    case DType::Bool: return use(static_cast<const bool*>(table.data));
    default: throw InternalError("table lanes", "a table of " + to_string(table.dtype) + " in a mask");
  }
}

int64_t value(const int32_t* at) { return *at; }
int64_t value(const int64_t* at) { return *at; }
int64_t value(const uint8_t* at) { return *at; }
int64_t value(const bool* at) { return *reinterpret_cast<const uint8_t*>(at) != 0; }

/// Lanes whose elements stand `stride` apart.
void read_adjacent(const Tensor& table, int64_t offset, int64_t stride, int64_t* __restrict out, int n) {
  with_elements(table, [&](const auto* elements) {
    if (stride == 1) {
      for (int i = 0; i < n; ++i) out[i] = value(elements + offset + i);
    } else {
      for (int i = 0; i < n; ++i) out[i] = value(elements + offset + i * stride);
    }
  });
}

/// True when lane i has the index data[0] + i, inside [0, extent).
bool adjacent(const int64_t* data, int64_t extent, int n) {
  if (data[0] < 0 || data[0] > extent - n) return false;
  bool all = true;
  for (int i = 0; i < n; ++i) all &= data[i] - data[0] == i;
  return all;
}

/// Adds the clamped index times the stride to the offset of every lane.
void add_offsets(const int64_t* data, int64_t extent, int64_t stride, int64_t* __restrict out, int n) {
  for (int i = 0; i < n; ++i) out[i] += std::clamp<int64_t>(data[i], 0, extent - 1) * stride;
}

void gather(const Tensor& table, int64_t* out, int n) {
  with_elements(table, [&](const auto* elements) {
    for (int i = 0; i < n; ++i) out[i] = value(elements + out[i]);
  });
}

}  // namespace

void read_lanes(const Tensor& table, std::span<const LaneIndex> indices, int64_t* out, int n) {
  int64_t offset = 0;
  int varying = 0;
  size_t last = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t extent = table.shape[d];
    if (extent == 0) {
      std::fill_n(out, n, 0);
      return;
    }
    if (indices[d].varies && extent > 1) ++varying, last = d;
    else offset += std::clamp<int64_t>(*indices[d].data, 0, extent - 1) * table.strides[d];
  }
  if (varying == 0) return read_adjacent(table, offset, 0, out, n);
  if (varying == 1 && adjacent(indices[last].data, table.shape[last], n)) {
    return read_adjacent(table, offset + indices[last].data[0] * table.strides[last], table.strides[last], out, n);
  }
  std::fill_n(out, n, offset);
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d].varies && table.shape[d] > 1) add_offsets(indices[d].data, table.shape[d], table.strides[d], out, n);
  }
  gather(table, out, n);
}

}  // namespace heddle::analysis
