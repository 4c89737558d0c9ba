// Copies a strided view into a dense array: how transposes, slices, splits and broadcasts are carried out.
#pragma once
#include "heddle/tensor.h"
#include "runtime/thread_pool.h"

namespace heddle::engine {

/// to[i...] = from[i...]; `to` is dense, the shapes and dtypes are equal, strides of `from` are any (0 repeats, negative
/// reverses).
void copy_strided(const Tensor& from, const Tensor& to, runtime::ThreadPool& pool);

/// The view of `tensor` with NumPy's broadcast to `shape`, which it must broadcast to.
Tensor broadcast_view(const Tensor& tensor, const std::vector<int64_t>& shape);

/// Offset, in elements, of row number `row` (row-major over all dimensions but the last).
int64_t row_offset(const Tensor& view, int64_t row);

}  // namespace heddle::engine
