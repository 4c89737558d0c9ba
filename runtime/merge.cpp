#include "runtime/merge.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include "src/support/half.h"

namespace heddle::runtime {

namespace {

constexpr float kNoKey = -std::numeric_limits<float>::infinity();
constexpr int64_t kBlockDims = 256;

float lse_of(const PartialRows& part, int64_t row) { return part.lse[row * part.lse_stride]; }

/// The largest lse of a row, NaN where there is one.
float largest_lse(std::span<const PartialRows> parts, int64_t row) {
  float most = kNoKey;
  for (const PartialRows& part : parts) {
    const float lse = lse_of(part, row);
    if (std::isnan(lse)) return lse;
    most = std::max(most, lse);
  }
  return most;
}

/// A row's lse as most + log(sum). The two are kept apart: a sum cannot vanish beside a huge maximum.
struct LogSum {
  double most = kNoKey, sum = 0;

  bool empty() const { return most == kNoKey; }
  double weight(float lse) const { return std::exp(double{lse} - most) / sum; }
  double lse() const { return empty() ? most : most + std::log(sum); }
};

LogSum merged_lse(std::span<const PartialRows> parts, int64_t row) {
  LogSum merged{largest_lse(parts, row)};
  if (merged.empty()) return merged;
  for (const PartialRows& part : parts) merged.sum += std::exp(double{lse_of(part, row)} - merged.most);
  return merged;
}

void store(const float* values, int64_t count, const MergedRows& out, int64_t first) {
  if (out.dtype == DType::Float32) {
    std::copy_n(values, count, static_cast<float*>(out.o) + first);
    return;
  }
  for (int64_t i = 0; i < count; ++i) support::set_element(out.dtype, out.o, first + i, values[i]);
}

/// Dims [first, first + dims) of one row. The block is summed aside, so `out` may be a part.
void merge_block(std::span<const PartialRows> parts, int64_t row, const LogSum& merged, int64_t first, int64_t dims, const MergedRows& out) {
  float sum[kBlockDims] = {};
  for (const PartialRows& part : parts) {
    if (lse_of(part, row) == kNoKey) continue;
    const auto weight = static_cast<float>(merged.weight(lse_of(part, row)));
    const float* o = part.o + row * part.o_stride + first;
    for (int64_t d = 0; d < dims; ++d) sum[d] += weight * o[d];
  }
  store(sum, dims, out, row * out.o_stride + first);
}

}  // namespace

void merge_partials(std::span<const PartialRows> parts, int64_t rows, int64_t value_dim, const MergedRows& out) {
  for (int64_t row = 0; row < rows; ++row) {
    const LogSum merged = merged_lse(parts, row);
    for (int64_t first = 0; first < value_dim; first += kBlockDims) {
      merge_block(parts, row, merged, first, std::min(kBlockDims, value_dim - first), out);
    }
    if (out.lse) out.lse[row * out.lse_stride] = static_cast<float>(merged.lse());
  }
}

}  // namespace heddle::runtime
