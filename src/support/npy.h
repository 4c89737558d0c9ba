// Reader of NumPy's .npy files and of white-spaced integers: arrays given on the command line.
//
// Format: NEP 1 / numpy.lib.format, versions 1.0, 2.0 and 3.0; little-endian elements in C order only. Everything is bounded and checked
// before memory is taken; a file has exactly the bytes that its header promises.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::support {

/// Element types that are read: bool, u1, i1, i2, i4, i8, f4, f8.
enum class ArrayType : uint8_t { Bool, UInt8, Int8, Int16, Int32, Int64, Float32, Float64 };
const char* to_string(ArrayType type);  ///< NumPy's name: "bool", "uint8", ...
int64_t size_of(ArrayType type);        ///< Bytes of one element.

/// A dense row-major array.
struct Array {
  ArrayType type = ArrayType::Int64;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;  ///< elements() * size_of(type).

  int64_t elements() const;
  bool is_integer() const { return type != ArrayType::Float32 && type != ArrayType::Float64; }
  /// The elements in order; bool gives 0 and 1 (any byte but 0). Throws UserError for real elements.
  std::vector<int64_t> integers() const;
  /// The elements in order, of any type.
  std::vector<double> reals() const;
  /// One byte an element: 0 where the element is 0, else 1. Throws UserError for real elements.
  std::vector<uint8_t> nonzero() const;
};

inline constexpr int64_t kMaxArrayBytes = int64_t{1} << 32;  ///< Largest array.
inline constexpr int64_t kMaxArrayHeader = 65536;            ///< Longest .npy header, in bytes.
inline constexpr int kMaxArrayRank = 32;

/// Reads a whole .npy file in memory; `name` names it in errors. Throws UserError.
Array parse_npy(std::string_view file, const std::string& name);
/// Decimal integers between white space (blanks, tabs, line breaks), as a one-dimensional Int64 array. Throws UserError with the line.
Array parse_integers_text(std::string_view text, const std::string& name);
/// A file: .npy when it starts with NumPy's magic bytes or its name ends in .npy, else white-spaced integers (64 MiB at most). Throws UserError.
Array read_array(const std::string& path);

}  // namespace heddle::support
