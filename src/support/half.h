// The 16-bit floating-point types as bits: bfloat16 and IEEE binary16, to and from float32, whatever the compiler or processor has.
#pragma once
#include <bit>
#include <cstdint>
#include "heddle/tensor.h"

namespace heddle::support {

/// Exact; a NaN stays one.
constexpr float from_bfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
float from_float16(uint16_t bits);

/// Rounds to nearest, ties to even, subnormals included; what is too large becomes infinite, NaN a quiet NaN.
uint16_t to_bfloat16(float value);
uint16_t to_float16(float value);

/// Numbers of 16 bits that compute as float32 and round where they are stored.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  BFloat16(float value) : bits(to_bfloat16(value)) {}
  operator float() const { return from_bfloat16(bits); }
};
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  Float16(float value) : bits(to_float16(value)) {}
  operator float() const { return from_float16(bits); }
};

/// Float32, BFloat16 or Float16: what Q, K, V and O may hold.
constexpr bool is_operand_type(DType type) { return type == DType::Float32 || type == DType::BFloat16 || type == DType::Float16; }

/// Largest relative error of rounding a normal value to an operand type.
double unit_roundoff(DType type);

/// Element `index` of an array of an operand type.
float element(DType type, const void* data, int64_t index);
/// The same element, rounded.
void set_element(DType type, void* data, int64_t index, float value);

}  // namespace heddle::support
