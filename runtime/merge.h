// Merges partial results of attention over disjoint sets of keys into the result over their union.
#pragma once
#include <cstdint>
#include <span>
#include "heddle/tensor.h"

namespace heddle::runtime {

/// The result over one set of keys: rows that are normalised by their own softmax, and the natural-log log-sum-exp of their scores.
/// A row without any key has lse = -inf; its o is never read.
struct PartialRows {
  const float* o = nullptr;    ///< [rows, value_dim], row i at o + i * o_stride, the last dimension contiguous.
  const float* lse = nullptr;  ///< [rows], at lse + i * lse_stride.
  int64_t o_stride = 0, lse_stride = 1;
};

/// Where the merged rows go, rounded to `dtype` (Float32, BFloat16 or Float16); `lse` may be null.
struct MergedRows {
  void* o = nullptr;
  float* lse = nullptr;
  int64_t o_stride = 0, lse_stride = 1;  ///< In elements.
  DType dtype = DType::Float32;
};

/// o = sum_i exp(lse_i - lse) o_i and lse = log sum_i exp(lse_i), computed around the largest lse_i (Milakov and Gimelshein, "Online
/// normalizer calculation for softmax"). Parts are added in the order given, so results depend on that order alone. Rows without any
/// key give 0 and -inf; a NaN in an lse, or in an o of a row with keys, reaches the merged row. `out` may be one of the parts in place
/// (equal pointers and strides, float32); otherwise it overlaps none. Allocates nothing; no parts at all make every row empty.
void merge_partials(std::span<const PartialRows> parts, int64_t rows, int64_t value_dim, const MergedRows& out);

}  // namespace heddle::runtime
