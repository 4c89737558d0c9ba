#include "src/engine/strided_copy.h"

#include <cstring>

#include "src/engine/op_run.h"
#include "src/engine/parallel_for.h"

namespace heddle::engine {
namespace {

constexpr int64_t kElementsAtOnce = 1 << 14;

template <typename T>
void copy_row(const T* from, int64_t stride, T* to, int64_t count) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

}  // namespace

int64_t row_offset(const Tensor& view, int64_t row) {
  int64_t offset = 0;
  for (int64_t d = view.rank() - 2; d >= 0; --d) {
    offset += row % view.shape[d] * view.strides[d];
    row /= view.shape[d];
  }
  return offset;
}

void copy_strided(const Tensor& from, const Tensor& to, runtime::ThreadPool& pool) {
  const int64_t count = to.elements();
  if (count == 0) return;
  const int64_t width = to.rank() == 0 ? 1 : to.shape.back(), stride = to.rank() == 0 ? 1 : from.strides.back();
  by_dtype(to.dtype, [&](auto type) {
    using T = decltype(type);
    const T* source = static_cast<const T*>(from.data);
    T* target = static_cast<T*>(to.data);
    parallel_for(pool, count / width, std::max<int64_t>(1, kElementsAtOnce / width), [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row)
        copy_row(source + row_offset(from, row), stride, target + row * width, width);
    });
  });
}

Tensor broadcast_view(const Tensor& tensor, const std::vector<int64_t>& shape) {
  Tensor view = tensor;
  const size_t missing = shape.size() - tensor.shape.size();
  view.strides.insert(view.strides.begin(), missing, 0);
  for (size_t d = missing; d < shape.size(); ++d) {
    if (tensor.shape[d - missing] == 1) view.strides[d] = 0;
  }
  view.shape = shape;
  return view;
}

}  // namespace heddle::engine
