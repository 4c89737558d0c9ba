// Tensor core operations against plain loops on matrices laid out as the PTX ISA says, and conversions of 16-bit floats bit by
// bit.
#include "test/emulator/matrix_ops.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace heddle::emulator {
namespace {

/// A value that the type holds exactly.
float exact(MatrixType type, std::mt19937& random) {
  const float value = static_cast<float>(static_cast<int>(random() % 255) - 127) / 16;
  return type == MatrixType::BF16 ? bfloat_to_float(float_to_bfloat(value)) : value;
}

uint32_t bits16(MatrixType type, float value) {
  return type == MatrixType::F16 ? float_to_half(value) : float_to_bfloat(value);
}

/// PTX ISA: fragments of A (16 x depth, row-major) and of B (depth x 8), element by element.
struct Fragments {
  std::vector<std::array<uint32_t, kWarp>> a, b;

  Fragments(const MatrixShape& shape, const std::vector<float>& left, const std::vector<float>& right) {
    const bool single = shape.type == MatrixType::TF32;
    a.resize(shape.a_registers());
    b.resize(shape.b_registers());
    for (int lane = 0; lane < kWarp; ++lane) {
      const int g = lane / 4, t = lane % 4;
      for (size_t i = 0; i < a.size(); ++i) {
        const int row = g + (i % 2 ? 8 : 0), column = single ? t + (i / 2 ? 4 : 0) : 2 * t + (i / 2 ? 8 : 0);
        const float* element = &left[row * shape.depth + column];
        a[i][lane] =
            single ? std::bit_cast<uint32_t>(*element) : bits16(shape.type, element[0]) | bits16(shape.type, element[1]) << 16;
      }
      for (size_t i = 0; i < b.size(); ++i) {
        const int row = single ? t + 4 * static_cast<int>(i) : 2 * t + 8 * static_cast<int>(i);
        const float *first = &right[row * 8 + g], *second = single ? first : &right[(row + 1) * 8 + g];
        b[i][lane] = single ? std::bit_cast<uint32_t>(*first) : bits16(shape.type, *first) | bits16(shape.type, *second) << 16;
      }
    }
  }
};

TEST(MatrixOps, ProductsOfEveryShapeAndType) {
  std::mt19937 random(5);
  for (const MatrixShape& shape : {MatrixShape{MatrixType::F16, 16},
                                   {MatrixType::F16, 8},
                                   {MatrixType::BF16, 16},
                                   {MatrixType::BF16, 8},
                                   {MatrixType::TF32, 8},
                                   {MatrixType::TF32, 4}}) {
    std::vector<float> left(16 * shape.depth), right(shape.depth * 8);
    for (float& x : left) x = exact(shape.type, random);
    for (float& x : right) x = exact(shape.type, random);
    Fragments fragments(shape, left, right);
    std::vector<std::array<uint32_t, kWarp>> c(4);
    std::vector<FragmentRegister> a, b, sums;
    std::vector<uint32_t*> d;
    for (auto& fragment : fragments.a) a.push_back(fragment.data());
    for (auto& fragment : fragments.b) b.push_back(fragment.data());
    for (auto& fragment : c) {
      fragment.fill(std::bit_cast<uint32_t>(0.5f));
      sums.push_back(fragment.data());
      d.push_back(fragment.data());
    }
    multiply(shape, a.data(), b.data(), sums.data(), d.data());
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 8; ++column) {
        double expected = 0.5;
        for (int k = 0; k < shape.depth; ++k) expected += double{left[row * shape.depth + k]} * right[k * 8 + column];
        const uint32_t got = c[row / 8 * 2 + column % 2][row % 8 * 4 + column / 2];
        EXPECT_NEAR(std::bit_cast<float>(got), expected, 1e-3) << row << "," << column << " depth " << shape.depth;
      }
    }
  }
}

TEST(MatrixOps, DistributionAndItsTranspose) {
  uint16_t matrix[8][8];
  for (int i = 0; i < 64; ++i) matrix[i / 8][i % 8] = static_cast<uint16_t>(i);
  uint32_t plain[kWarp], transposed[kWarp];
  distribute(matrix, false, plain);
  distribute(matrix, true, transposed);
  EXPECT_EQ(plain[4 * 3 + 2], (3u * 8 + 4) | (3u * 8 + 5) << 16);
  EXPECT_EQ(transposed[4 * 3 + 2], (4u * 8 + 3) | (5u * 8 + 3) << 16);
}

TEST(MatrixOps, HalvesConvertBothWaysExactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(static_cast<uint16_t>(bits));
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const uint32_t mantissa = bits & 0x3ff;
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), mantissa != 0);
      EXPECT_EQ(std::isinf(value), mantissa == 0);
    } else {
      const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
      ASSERT_EQ(value, bits & 0x8000 ? -magnitude : magnitude) << bits;
    }
    if (!std::isnan(value)) {
      ASSERT_EQ(float_to_half(value), bits);
    }
  }
}

TEST(MatrixOps, RoundingIsToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), 0x3c00);      // a tie, down to even
  EXPECT_EQ(float_to_half(1.0f + 3 * 0x1p-11f), 0x3c02);  // a tie, up to even
  EXPECT_EQ(float_to_half(1.0f + 0x1.8p-11f), 0x3c01);
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(0x1p-25f), 0);
  EXPECT_EQ(float_to_half(0x1.8p-25f), 1);
  EXPECT_EQ(float_to_half(-0x1.8p-25f), 0x8001);
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(NAN))));
  EXPECT_EQ(float_to_bfloat(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(float_to_bfloat(1.0f + 3 * 0x1p-8f), 0x3f82);
  EXPECT_EQ(float_to_bfloat(INFINITY), 0x7f80);
  EXPECT_TRUE(std::isnan(bfloat_to_float(float_to_bfloat(NAN))));
}

}  // namespace
}  // namespace heddle::emulator
