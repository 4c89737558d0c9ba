#include "src/support/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace heddle::support {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

/// The nearest of all values of a type, ties to the even one, by search: rounding from its definition.
uint16_t nearest(float value, uint16_t infinity, float (*widen)(uint16_t)) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double wanted = std::abs(double{value});
  uint32_t low = 0, high = infinity;  // magnitudes: widen(low) <= wanted < widen(high)
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (double{widen(static_cast<uint16_t>(middle))} <= wanted ? low : high) = middle;
  }
  const double below = widen(static_cast<uint16_t>(low));
  const double step = below - widen(static_cast<uint16_t>(low - 1));
  const double above = high == infinity ? below + step : double{widen(static_cast<uint16_t>(high))};
  if (low == 0) return static_cast<uint16_t>(sign | (wanted * 2 > widen(1) ? 1 : 0));
  const double to_below = wanted - below, to_above = above - wanted;
  const bool up = to_above < to_below || (to_above == to_below && low % 2 == 1);
  return static_cast<uint16_t>(sign | (up ? high : low));
}

float widen_bfloat16(uint16_t bits) { return from_bfloat16(bits); }

template <typename Narrow>
void expect_nearest(const Narrow& narrow, uint16_t infinity, float (*widen)(uint16_t), float low, float high) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> exponent(low, high), mantissa(-2, 2);
  for (int i = 0; i < 100000; ++i) {
    const float value = std::ldexp(mantissa(random), static_cast<int>(exponent(random)));
    ASSERT_EQ(narrow(value), nearest(value, infinity, widen)) << value;
  }
}

TEST(Half, RoundsToTheNearestTiesToEven) {
  expect_nearest(to_float16, 0x7c00, from_float16, -28, 15.9f);
  expect_nearest(to_bfloat16, 0x7f80, widen_bfloat16, -140, 126);
}

TEST(Half, EveryValueComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const bool nan16 = (bits & 0x7fff) > 0x7c00, nan_bfloat = (bits & 0x7fff) > 0x7f80;
    ASSERT_EQ(std::isnan(from_float16(half)), nan16);
    ASSERT_EQ(std::isnan(from_bfloat16(half)), nan_bfloat);
    if (!nan16) {
      ASSERT_EQ(to_float16(from_float16(half)), half);
    }
    if (!nan_bfloat) {
      ASSERT_EQ(to_bfloat16(from_bfloat16(half)), half);
    }
  }
}

TEST(Half, TiesAndRims) {
  EXPECT_EQ(to_float16(65504.0f), 0x7bff);
  EXPECT_EQ(to_float16(65519.996f), 0x7bff);
  EXPECT_EQ(to_float16(65520.0f), 0x7c00) << "half way to 2^16 rounds to even, which is infinite";
  EXPECT_EQ(to_float16(-1e30f), 0xfc00);
  EXPECT_EQ(to_float16(0x1p-24f), 1);
  EXPECT_EQ(to_float16(0x1p-25f), 0) << "half of the smallest subnormal";
  EXPECT_EQ(to_float16(0x1.8p-24f), 2);
  EXPECT_EQ(to_float16(0x1.ffcp-15f), 0x400) << "rounds up to the smallest normal value";
  EXPECT_EQ(to_float16(1 + 0x1p-11f), 0x3c00);
  EXPECT_EQ(to_float16(1 + 0x3p-11f), 0x3c02);
  EXPECT_EQ(to_bfloat16(1 + 0x1p-8f), 0x3f80);
  EXPECT_EQ(to_bfloat16(1 + 0x3p-8f), 0x3f82);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(to_bfloat16(0x1p-133f), 1);
  EXPECT_TRUE(same(from_float16(to_float16(-0.0f)), -0.0f));
  EXPECT_TRUE(same(from_bfloat16(to_bfloat16(-0.0f)), -0.0f));
  EXPECT_EQ(from_float16(to_float16(-kInfinity)), -kInfinity);
  EXPECT_EQ(from_bfloat16(to_bfloat16(kInfinity)), kInfinity);
  for (uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff80ffffu}) {  // NaN whose upper half alone would be infinite or carry over
    EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(std::bit_cast<float>(bits))))) << bits;
    EXPECT_TRUE(std::isnan(from_float16(to_float16(std::bit_cast<float>(bits))))) << bits;
  }
}

TEST(Half, ElementsOfOperands) {
  for (const DType type : {DType::Float32, DType::BFloat16, DType::Float16}) {
    EXPECT_TRUE(is_operand_type(type));
    float memory[4] = {};
    set_element(type, memory, 1, -1.5f);
    set_element(type, memory, 2, 3.140625f);
    EXPECT_EQ(element(type, memory, 1), -1.5f);
    EXPECT_EQ(element(type, memory, 2), 3.140625f);
    EXPECT_EQ(element(type, memory, 0), 0.0f);
  }
  EXPECT_EQ(float{BFloat16(1 + 0x1p-8f)} + float{Float16(0.5f)}, 1.5f);
  EXPECT_EQ(from_bfloat16(0x3f81) - 1, 2 * unit_roundoff(DType::BFloat16));
  EXPECT_EQ(from_float16(0x3c01) - 1, 2 * unit_roundoff(DType::Float16));
  EXPECT_EQ(unit_roundoff(DType::Float32), 0x1p-24);
  EXPECT_FALSE(is_operand_type(DType::Float64));
  EXPECT_FALSE(is_operand_type(DType::Int32));
}

}  // namespace
}  // namespace heddle::support
