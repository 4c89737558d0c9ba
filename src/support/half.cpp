#include "src/support/half.h"

#include <cmath>

#include "heddle/error.h"

namespace heddle::support {

namespace {

constexpr uint32_t kSign = 0x80000000u, kInfinity = 0x7f800000u;

}  // namespace

float from_float16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  if (magnitude < 0x400u) {  // zero or subnormal: a multiple of 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign ? -value : value;
  }
  const uint32_t bias = magnitude >= 0x7c00u ? 224u << 23 : 112u << 23;
  return std::bit_cast<float>(sign | ((magnitude << 13) + bias));
}

uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits & kSign) >> 16, magnitude = bits & ~kSign;
  if (magnitude > kInfinity) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 2^16
  if (magnitude < 0x38800000u) {                                                // 2^-14: adding 0.5 rounds to multiples of 2^-24
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5f)));
  }
  const uint32_t rounded = magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

double unit_roundoff(DType type) { return type == DType::BFloat16 ? 0x1p-8 : type == DType::Float16 ? 0x1p-11 : 0x1p-24; }

float element(DType type, const void* data, int64_t index) {
  switch (type) {
    case DType::Float32: return static_cast<const float*>(data)[index];
    case DType::BFloat16: return from_bfloat16(static_cast<const uint16_t*>(data)[index]);
    case DType::Float16: return from_float16(static_cast<const uint16_t*>(data)[index]);
    default: throw InternalError("half", "an operand of " + to_string(type));
  }
}

void set_element(DType type, void* data, int64_t index, float value) {
  switch (type) {
    case DType::Float32: static_cast<float*>(data)[index] = value; return;
    case DType::BFloat16: static_cast<uint16_t*>(data)[index] = to_bfloat16(value); return;
    case DType::Float16: static_cast<uint16_t*>(data)[index] = to_float16(value); return;
    default: throw InternalError("half", "an operand of " + to_string(type));
  }
}

}  // namespace heddle::support
