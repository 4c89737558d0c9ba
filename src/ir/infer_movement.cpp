#include <fmt/format.h>

#include <algorithm>

#include "src/ir/infer.h"
#include "src/support/text.h"

namespace heddle::ir {
namespace {

/// Fills in 0 (copy this size) and -1 (whatever is left). Sizes are known not to be below -1.
std::vector<int64_t> resolved_shape(const std::vector<int64_t>& from, std::vector<int64_t> to) {
  int64_t unknown = -1;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && i >= from.size()) {
      throw NodeError(fmt::format("size 0 at position {} copies a dimension that {} does not have", i, shape_text(from)))
          .at_attribute("shape");
    }
    if (to[i] == 0) to[i] = from[i];
    if (to[i] == -1) {
      if (unknown >= 0) throw NodeError("two sizes are -1", "at most one size can be inferred").at_attribute("shape");
      unknown = i;
    }
  }
  if (unknown < 0) return to;
  to[unknown] = 1;
  const int64_t rest = checked_product(to), all = checked_product(from);
  if (rest == 0 || all % rest != 0) {
    throw NodeError(
        fmt::format("-1 cannot be inferred: {} elements of {} are not a multiple of {}", all, shape_text(from), rest))
        .at_attribute("shape");
  }
  to[unknown] = all / rest;
  return to;
}

bool is_permutation_of(const std::vector<int64_t>& order, size_t rank) {
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) return false;
  }
  return sorted.size() == rank;
}

std::vector<int64_t> even_parts(const Node& node, int64_t size) {
  const int64_t parts = node.integer("num_outputs", 0);
  if (parts < 1 || parts > 4096) {
    throw NodeError(fmt::format("cannot split into {} parts", parts), "give \"split\": [sizes] or \"num_outputs\": 1 to 4096")
        .at_attribute(node.has("num_outputs") ? "num_outputs" : "");
  }
  const int64_t whole = size / parts + (size % parts != 0);
  std::vector<int64_t> sizes(parts, whole);
  for (int64_t i = 0, left = size; i < parts; left -= sizes[i++]) sizes[i] = std::min(whole, std::max<int64_t>(left, 0));
  return sizes;
}

}  // namespace

Types infer_Cast(const Node& node, const Types& inputs) {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32, DType::Int64}) {
    if (heddle::to_string(dtype) == node.text("to", "")) return {{dtype, inputs[0].shape}};
  }
  throw NodeError(fmt::format("cannot cast to {}", support::quote(node.text("to", ""))),
                  "use \"float32\", \"bfloat16\", \"float16\", \"int32\" or \"int64\"")
      .at_attribute("to");
}

Types infer_Reshape(const Node& node, const Types& inputs) {
  const std::vector<int64_t>& from = inputs[0].shape;
  const std::vector<int64_t> wanted = node.list("shape");
  for (int64_t size : wanted) {
    if (size < -1)
      throw NodeError(fmt::format("size {} is negative", size), "use a size, 0 (keep) or -1 (infer)").at_attribute("shape");
  }
  const std::vector<int64_t> to = resolved_shape(from, wanted);
  if (checked_product(to) != checked_product(from)) {
    throw NodeError(fmt::format("cannot reshape {} ({} elements) to {} ({} elements)", shape_text(from), checked_product(from),
                                shape_text(to), checked_product(to)))
        .at_attribute("shape");
  }
  return {{inputs[0].dtype, to}};
}

Types infer_Transpose(const Node& node, const Types& inputs) {
  const std::vector<int64_t>& from = inputs[0].shape;
  std::vector<int64_t> order(from.size()), shape;
  for (size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  order = node.list("perm", order);
  if (!is_permutation_of(order, from.size())) {
    throw NodeError(
        fmt::format("perm {} is no permutation of the {} dimensions of {}", shape_text(order), from.size(), shape_text(from)))
        .at_attribute("perm");
  }
  for (int64_t dimension : order) shape.push_back(from[dimension]);
  return {{inputs[0].dtype, shape}};
}

Types infer_Gather(const Node& node, const Types& inputs) {
  if (inputs[1].dtype != DType::Int64 && inputs[1].dtype != DType::Int32) {
    throw NodeError(fmt::format("indices must be int64 or int32, found {}", heddle::to_string(inputs[1].dtype))).at_input(1);
  }
  const std::vector<int64_t>&data = inputs[0].shape, &indices = inputs[1].shape;
  const int64_t axis = axis_of(node, data.size(), 0);
  std::vector<int64_t> shape(data.begin(), data.begin() + axis);
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), data.begin() + axis + 1, data.end());
  checked_product(shape);
  return {{inputs[0].dtype, shape}};
}

SliceRange slice_range(int64_t size, int64_t start, int64_t end, int64_t step) {
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto clamp = [&](int64_t at) { return std::clamp(at < 0 ? std::max(at, -size - 1) + size : at, low, high); };
  const int64_t first = clamp(start), last = clamp(end), distance = step > 0 ? last - first : first - last;
  const int64_t stride = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
  return {first, step, distance <= 0 ? 0 : (distance - 1) / stride + 1};
}

std::vector<SliceRange> slice_ranges(const Node& node, const std::vector<int64_t>& shape) {
  const std::vector<int64_t> starts = node.list("starts"), ends = node.list("ends");
  const int64_t rank = shape.size(), count = starts.size();
  std::vector<int64_t> axes(count), steps(count, 1);
  for (int64_t i = 0; i < count; ++i) axes[i] = i;
  axes = node.list("axes", axes);
  steps = node.list("steps", steps);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    throw NodeError("starts, ends, axes and steps differ in length").at_attribute("starts");
  }
  std::vector<SliceRange> ranges;
  for (int64_t size : shape) ranges.push_back({0, 1, size});
  std::vector<bool> seen(rank, false);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || seen[axis]) {
      throw NodeError(fmt::format("axis {} is outside {} or given twice", axes[i], shape_text(shape))).at_attribute("axes");
    }
    if (steps[i] == 0) throw NodeError("a step is 0").at_attribute("steps");
    seen[axis] = true;
    ranges[axis] = slice_range(shape[axis], starts[i], ends[i], steps[i]);
  }
  return ranges;
}

Types infer_Slice(const Node& node, const Types& inputs) {
  std::vector<int64_t> shape;
  for (const SliceRange& range : slice_ranges(node, inputs[0].shape)) shape.push_back(range.count);
  return {{inputs[0].dtype, shape}};
}

Types infer_Concat(const Node& node, const Types& inputs) {
  TensorType joined = inputs[0];
  const int64_t axis = axis_of(node, joined.shape.size(), 0);
  for (size_t i = 1; i < inputs.size(); ++i) {
    require_dtype(inputs, i, joined.dtype);
    std::vector<int64_t> other = inputs[i].shape;
    const int64_t size = axis < static_cast<int64_t>(other.size()) ? other[axis] : 0;
    if (axis < static_cast<int64_t>(other.size())) other[axis] = joined.shape[axis];
    if (other != joined.shape) {
      throw NodeError(fmt::format("shapes {} and {} differ outside axis {}", shape_text(inputs[0].shape),
                                  shape_text(inputs[i].shape), axis))
          .at_input(i);
    }
    if (__builtin_add_overflow(joined.shape[axis], size, &joined.shape[axis]))
      throw NodeError("the joined size passes 2^63 - 1");
  }
  checked_product(joined.shape);
  return {joined};
}

Types infer_Split(const Node& node, const Types& inputs) {
  const int64_t axis = axis_of(node, inputs[0].shape.size(), 0), size = inputs[0].shape[axis];
  const std::vector<int64_t> sizes = node.has("split") ? node.list("split") : even_parts(node, size);
  int64_t left = size;
  Types parts;
  for (int64_t part : sizes) {
    if (part < 0 || part > left) break;
    left -= part;
    parts.push_back(inputs[0]);
    parts.back().shape[axis] = part;
  }
  if (left != 0 || parts.size() != sizes.size()) {
    throw NodeError(fmt::format("parts {} do not add up to {}", shape_text(sizes), size)).at_attribute("split");
  }
  return parts;
}

}  // namespace heddle::ir
