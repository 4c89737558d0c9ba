#include "heddle/tensor.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>
#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle {

namespace {

struct DTypeInfo {
  DType type;
  const char *name, *alias;
  int64_t bytes;
};

constexpr std::array<DTypeInfo, 8> kTypes = {{{DType::Float32, "float32", "f32", 4},
                                              {DType::Float64, "float64", "f64", 8},
                                              {DType::Int32, "int32", "i32", 4},
                                              {DType::Int64, "int64", "i64", 8},
                                              {DType::Bool, "bool", "bool", 1},
                                              {DType::UInt8, "uint8", "u8", 1},
                                              {DType::Float16, "float16", "f16", 2},
                                              {DType::BFloat16, "bfloat16", "bf16", 2}}};

const DTypeInfo& info(DType type) {
  for (const DTypeInfo& one : kTypes) {
    if (one.type == type) return one;
  }
  throw InternalError("tensor", fmt::format("unknown dtype {}", static_cast<int>(type)));
}

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

void check_dimensions(const std::vector<int64_t>& shape) {
  for (const int64_t dim : shape) {
    if (dim < 0) throw UserError(fmt::format("shape {} has a negative dimension", shape_text(shape)));
  }
}

/// Product of dims from the last to the first; a zero anywhere makes it 0 whatever the others are.
int64_t product(const std::vector<int64_t>& shape, size_t first) {
  int64_t total = 1;
  bool overflow = false;
  for (size_t i = shape.size(); i-- > first;) {
    if (shape[i] == 0) return 0;
    overflow |= __builtin_mul_overflow(total, shape[i], &total);
  }
  if (overflow) throw UserError(fmt::format("shape {} has more than 2^63 - 1 elements", shape_text(shape)));
  return total;
}

}  // namespace

int64_t size_of(DType type) { return info(type).bytes; }

std::string to_string(DType type) { return info(type).name; }

DType parse_dtype(const std::string& text) {
  std::vector<std::string> names;
  for (const DTypeInfo& one : kTypes) {
    if (text == one.name || text == one.alias) return one.type;
    names.push_back(one.name);
  }
  throw UserError(fmt::format("unknown dtype {}; expected one of {}", support::quote(text), support::list(names)));
}

int64_t Tensor::elements() const {
  check_dimensions(shape);
  return product(shape, 0);
}

bool Tensor::contiguous() const {
  int64_t expected = 1;
  for (const int64_t dim : shape) {
    if (dim == 0) return true;
  }
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

Tensor Tensor::dense(void* data, std::vector<int64_t> shape, DType dtype) {
  std::vector<int64_t> strides = dense_strides(shape);
  return {data, dtype, std::move(shape), std::move(strides)};
}

Tensor Tensor::transposed(const std::vector<int>& order) const {
  Tensor out{data, dtype, {}, {}};
  std::vector<bool> seen(shape.size());
  for (const int axis : order) {
    const bool legal = axis >= 0 && axis < rank() && !seen[static_cast<size_t>(axis)];
    if (!legal) break;
    seen[static_cast<size_t>(axis)] = true;
    out.shape.push_back(shape[static_cast<size_t>(axis)]);
    out.strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  if (out.rank() != rank() || order.size() != shape.size()) {
    throw UserError(fmt::format("order [{}] is no permutation of the {} dimensions", fmt::join(order, ", "), rank()));
  }
  return out;
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape) {
  check_dimensions(shape);
  product(shape, 0);
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = 0; i < shape.size(); ++i) strides[i] = product(shape, i + 1);
  return strides;
}

}  // namespace heddle
