#include "src/engine/c_tensor.h"

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::engine {
namespace {

constexpr int kMostDimensions = 64;
constexpr uint8_t kBool = 6;  ///< kDLBool of DLPack 0.8 and later.

struct Pair {
  int code, bits;
  DType dtype;
};
constexpr Pair kTypes[] = {{kDLFloat, 32, DType::Float32},   {kDLFloat, 64, DType::Float64}, {kDLFloat, 16, DType::Float16},
                           {kDLBfloat, 16, DType::BFloat16}, {kDLInt, 32, DType::Int32},     {kDLInt, 64, DType::Int64},
                           {kDLUInt, 8, DType::UInt8},       {kBool, 8, DType::Bool}};

}  // namespace

DType dtype_of(const DLDataType& type, const char* name) {
  if (type.lanes != 1) throw UserError(fmt::format("{} has elements of {} lanes; expected 1", name, type.lanes));
  for (const Pair& known : kTypes) {
    if (type.code == known.code && type.bits == known.bits) return known.dtype;
  }
  throw UserError(
      fmt::format("{} has DLPack type code {} with {} bits; expected float 16, 32 or 64, bfloat 16, int 32 or 64, uint 8, "
                  "or bool 8",
                  name, type.code, type.bits));
}

Tensor view_of(const DLTensor* tensor, const char* name) {
  if (!tensor) throw UserError(fmt::format("{} is a null pointer; expected a DLTensor", name));
  if (tensor->device.device_type != kDLCPU) {
    throw UserError(fmt::format("{} is on DLPack device type {}; expected the CPU ({})", name,
                                static_cast<int>(tensor->device.device_type), static_cast<int>(kDLCPU)));
  }
  if (tensor->ndim < 0 || tensor->ndim > kMostDimensions) {
    throw UserError(fmt::format("{} has {} dimensions; expected 0 to {}", name, tensor->ndim, kMostDimensions));
  }
  if (tensor->ndim > 0 && !tensor->shape) throw UserError(fmt::format("{} has {} dimensions but no shape", name, tensor->ndim));
  Tensor view;
  view.dtype = dtype_of(tensor->dtype, name);
  view.data = tensor->data ? static_cast<char*>(tensor->data) + tensor->byte_offset : nullptr;
  view.shape.assign(tensor->shape, tensor->shape + tensor->ndim);
  if (tensor->strides) {
    view.strides.assign(tensor->strides, tensor->strides + tensor->ndim);
  } else {
    view.strides = dense_strides(view.shape);
  }
  return view;
}

}  // namespace heddle::engine
