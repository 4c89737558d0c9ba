// Reads DLPack tensors of the C border as views.
#pragma once
#include <dlpack/dlpack.h>

#include "heddle/tensor.h"

namespace heddle::engine {

/// Throws UserError, naming `name`, for a device other than the CPU, lanes, and element types that Heddle has no name for.
DType dtype_of(const DLDataType& type, const char* name);

/// The same elements. Throws UserError, naming `name`, for a null pointer, a device other than the CPU, and shapes that are
/// none.
Tensor view_of(const DLTensor* tensor, const char* name);

}  // namespace heddle::engine
