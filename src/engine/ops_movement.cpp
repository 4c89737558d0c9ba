#include <fmt/format.h>

#include <cstring>

#include "heddle/error.h"
#include "src/engine/op_run.h"
#include "src/engine/parallel_for.h"
#include "src/engine/strided_copy.h"

namespace heddle::engine {
namespace {

Array dense_copy(const OpRun& run, const Tensor& view, size_t index = 0) {
  Array out = run.output(view.dtype, index);
  copy_strided(view, out.view, run.pool);
  return out;
}

/// Sizes before, at and after an axis.
struct Split3 {
  int64_t outer = 1, size = 1, inner = 1;
};

Split3 around(const std::vector<int64_t>& shape, int64_t axis) {
  Split3 split;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    (d < axis ? split.outer : d == axis ? split.size : split.inner) *= shape[d];
  }
  return split;
}

int64_t axis_of(const OpRun& run, int64_t fallback) {
  const int64_t axis = run.node.integer("axis", fallback);
  return axis < 0 ? axis + run.inputs[0].view.rank() : axis;
}

char* bytes_of(Array& array) { return static_cast<char*>(array.view.data); }
const char* bytes_of(const Array& array) { return static_cast<const char*>(array.view.data); }

/// Indices as positions along an axis of `size` elements; negative ones count from its end.
std::vector<int64_t> positions(const OpRun& run, int64_t size) {
  const Array& indices = run.inputs[1];
  std::vector<int64_t> found(indices.view.elements());
  const bool narrow = indices.view.dtype == DType::Int32;
  for (size_t i = 0; i < found.size(); ++i) {
    const int64_t index = narrow ? data_of<int32_t>(indices)[i] : data_of<int64_t>(indices)[i];
    if (index < -size || index >= size) {
      throw UserError(fmt::format("index {} at position {} is outside the {} elements it selects from", index, i, size),
                      fmt::format("indices go from {} to {}", -size, size - 1));
    }
    found[i] = index < 0 ? index + size : index;
  }
  return found;
}

}  // namespace

Arrays evaluate_Reshape(const OpRun& run) {
  Array out = run.inputs[0];
  out.view = Tensor::dense(out.view.data, run.output_shapes[0], out.view.dtype);
  return {out};
}

Arrays evaluate_Transpose(const OpRun& run) {
  const Tensor& from = run.inputs[0].view;
  std::vector<int> order;
  for (int64_t d : run.node.list("perm")) order.push_back(static_cast<int>(d));
  for (int64_t d = from.rank() - 1; !run.node.has("perm") && d >= 0; --d) order.push_back(static_cast<int>(d));
  return {dense_copy(run, from.transposed(order))};
}

Arrays evaluate_Slice(const OpRun& run) {
  Tensor view = run.inputs[0].view;
  const std::vector<ir::SliceRange> ranges = ir::slice_ranges(run.node, view.shape);
  int64_t offset = 0;
  for (size_t d = 0; d < ranges.size(); ++d) {
    if (ranges[d].count > 0) offset += ranges[d].start * view.strides[d];
    view.shape[d] = ranges[d].count;
    view.strides[d] *= ranges[d].step;
  }
  view.data = static_cast<char*>(view.data) + offset * size_of(view.dtype);
  return {dense_copy(run, view)};
}

Arrays evaluate_Split(const OpRun& run) {
  Tensor view = run.inputs[0].view;
  const int64_t axis = axis_of(run, 0);
  Arrays parts;
  for (size_t i = 0; i < run.output_shapes.size(); ++i) {
    view.shape = run.output_shapes[i];
    parts.push_back(dense_copy(run, view, i));
    view.data = static_cast<char*>(view.data) + view.shape[axis] * view.strides[axis] * size_of(view.dtype);
  }
  return parts;
}

Arrays evaluate_Concat(const OpRun& run) {
  Array out = run.output(run.dtype());
  const Split3 whole = around(run.output_shapes[0], axis_of(run, 0));
  const int64_t element = size_of(run.dtype());
  int64_t at = 0;
  for (const Array& input : run.inputs) {
    const Split3 part = around(input.view.shape, axis_of(run, 0));
    const int64_t bytes = part.size * part.inner * element;
    for (int64_t i = 0; i < part.outer; ++i) {
      std::memcpy(bytes_of(out) + (i * whole.size + at) * whole.inner * element, bytes_of(input) + i * bytes,
                  static_cast<size_t>(bytes));
    }
    at += part.size;
  }
  return {out};
}

Arrays evaluate_Gather(const OpRun& run) {
  Array out = run.output(run.dtype());
  const Split3 from = around(run.inputs[0].view.shape, axis_of(run, 0));
  const std::vector<int64_t> at = positions(run, from.size);
  const int64_t count = at.size(), bytes = from.inner * size_of(run.dtype());
  parallel_for(run.pool, from.outer * count, 64, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t source = i / count * from.size + at[i % count];
      std::memcpy(bytes_of(out) + i * bytes, bytes_of(run.inputs[0]) + source * bytes, static_cast<size_t>(bytes));
    }
  });
  return {out};
}

}  // namespace heddle::engine
