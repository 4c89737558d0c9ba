// Strided views of caller-owned memory. Heddle never owns, copies or frees the data of a view.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

enum class DType { Float32, Float64, Int32, Int64, Bool, UInt8, Float16, BFloat16 };

int64_t size_of(DType type);              ///< Bytes of one element.
std::string to_string(DType type);        ///< "float32", ...
/// Accepts "float32" and "f32", "int64" and "i64", ...; throws UserError with the accepted names.
DType parse_dtype(const std::string& text);

/// A view: data pointer, dtype, shape and strides in elements (as DLPack; strides may be negative or 0).
struct Tensor {
  void* data = nullptr;
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  ///< In elements; same length as shape.

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elements() const;  ///< Product of shape; throws UserError when it passes 2^63 - 1.
  bool contiguous() const;
  /// A dense row-major view. Throws UserError on a negative dimension or a product past 2^63 - 1.
  static Tensor dense(void* data, std::vector<int64_t> shape, DType dtype = DType::Float32);
  /// Same memory, dimensions reordered: out.shape[i] = shape[order[i]].
  Tensor transposed(const std::vector<int>& order) const;
};

/// Row-major strides of a shape, in elements. Throws UserError as Tensor::elements does.
std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape);

}  // namespace heddle
