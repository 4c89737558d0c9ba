#include <algorithm>
#include <cmath>

#include "src/engine/op_run.h"
#include "src/engine/parallel_for.h"
#include "src/engine/strided_copy.h"

namespace heddle::engine {
namespace {

constexpr int64_t kElementsAtOnce = 1 << 13;

int64_t product(const std::vector<int64_t>& shape, int64_t first, int64_t last) {
  int64_t result = 1;
  for (int64_t d = first; d < last; ++d) result *= shape[d];
  return result;
}

/// Mean and variance in double, then y = (x - mean) / sqrt(variance + epsilon) * scale + bias.
template <typename T>
void normalize_row(const T* x, const T* scale, const T* bias, T* y, int64_t width, double epsilon) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < width; ++i) sum += x[i];
  const double mean = sum / static_cast<double>(width);
  for (int64_t i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double factor = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
  for (int64_t i = 0; i < width; ++i) {
    y[i] = static_cast<T>((x[i] - mean) * factor * scale[i] + (bias ? static_cast<double>(bias[i]) : 0.0));
  }
}

/// The operand broadcast to the normalized dimensions, dense.
Array expanded(const OpRun& run, size_t index, const std::vector<int64_t>& shape) {
  const Tensor& view = run.inputs[index].view;
  if (view.shape == shape) return run.inputs[index];
  Array out = run.buffers.make(shape, view.dtype);
  copy_strided(broadcast_view(view, shape), out.view, run.pool);
  return out;
}

template <typename T>
void softmax_column(const T* x, T* y, int64_t size, int64_t stride) {
  T top = x[0];
  for (int64_t i = 1; i < size; ++i) top = std::max(top, x[i * stride]);
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += y[i * stride] = std::exp(x[i * stride] - top);
  for (int64_t i = 0; i < size; ++i) y[i * stride] = static_cast<T>(y[i * stride] / sum);
}

}  // namespace

Arrays evaluate_LayerNormalization(const OpRun& run) {
  Array out = run.output(run.dtype());
  const std::vector<int64_t>& shape = out.view.shape;
  const int64_t rank = out.view.rank(), given = run.node.integer("axis", -1), axis = given < 0 ? given + rank : given;
  const std::vector<int64_t> normalized(shape.begin() + axis, shape.end());
  const int64_t rows = product(shape, 0, axis), width = product(shape, axis, rank);
  const Array scale = expanded(run, 1, normalized), bias = run.inputs.size() > 2 ? expanded(run, 2, normalized) : Array();
  by_real(run.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(run.pool, width == 0 ? 0 : rows, 16, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        normalize_row(data_of<T>(run.inputs[0]) + row * width, data_of<T>(scale), data_of<T>(bias),
                      data_of<T>(out) + row * width, width, run.node.real("epsilon", 1e-5));
      }
    });
  });
  return {out};
}

Arrays evaluate_Softmax(const OpRun& run) {
  Array out = run.output(run.dtype());
  const std::vector<int64_t>& shape = out.view.shape;
  const int64_t rank = out.view.rank(), given = run.node.integer("axis", -1), axis = given < 0 ? given + rank : given;
  const int64_t size = shape[axis], inner = product(shape, axis + 1, rank), columns = product(shape, 0, axis) * inner;
  if (out.view.elements() == 0) return {out};
  by_real(run.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(run.pool, columns, std::max<int64_t>(1, kElementsAtOnce / size), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t offset = i / inner * size * inner + i % inner;
        softmax_column(data_of<T>(run.inputs[0]) + offset, data_of<T>(out) + offset, size, inner);
      }
    });
  });
  return {out};
}

}  // namespace heddle::engine
