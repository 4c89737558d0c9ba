#include "test/emulator/matrix_ops.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace heddle::emulator {

namespace {

constexpr int kRows = 16, kColumns = 8, kMostDepth = 16;

/// Operands and accumulator as dense matrices. Columns of B and C stand in the order 0 2 4 6 1 3 5 7, in which four lanes of an
/// accumulator register are four neighbours.
struct Dense {
  alignas(64) float a[kRows][kMostDepth];
  alignas(64) float b[kMostDepth][kColumns];
  alignas(64) float c[kRows][kColumns];
};

constexpr int place_of(int column) { return column / 2 + column % 2 * 4; }

/// tf32 reads the upper 19 bits of a float32.
float tf32(uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000u); }

/// The 16-bit elements of a register in order of lanes: 8 rows of 8.
template <float (*Convert)(uint16_t)>
void widen(FragmentRegister lanes, float (&elements)[64]) {
  alignas(64) uint16_t narrow[64];
  std::memcpy(narrow, lanes, sizeof narrow);
  for (int i = 0; i < 64; ++i) elements[i] = Convert(narrow[i]);
}

/// Registers of A: rows + 8 for odd ones, columns + 8 for the second pair. Those of B hold its transpose.
template <float (*Convert)(uint16_t)>
void load_pairs(const MatrixShape& shape, const FragmentRegister* a, const FragmentRegister* b, Dense& dense) {
  alignas(64) float elements[64];
  for (int i = 0; i < shape.a_registers(); ++i) {
    widen<Convert>(a[i], elements);
    for (int row = 0; row < 8; ++row) std::memcpy(&dense.a[row + i % 2 * 8][i / 2 * 8], elements + 8 * row, 8 * sizeof(float));
  }
  for (int i = 0; i < shape.b_registers(); ++i) {
    widen<Convert>(b[i], elements);
    for (int k = 0; k < 8; ++k) {
      for (int column = 0; column < kColumns; ++column) dense.b[k + 8 * i][place_of(column)] = elements[8 * column + k];
    }
  }
}

void load_tf32(const MatrixShape& shape, const FragmentRegister* a, const FragmentRegister* b, Dense& dense) {
  for (int lane = 0; lane < kWarp; ++lane) {
    for (int i = 0; i < shape.a_registers(); ++i) dense.a[lane / 4 + i % 2 * 8][lane % 4 + i / 2 * 4] = tf32(a[i][lane]);
    for (int i = 0; i < shape.b_registers(); ++i) dense.b[lane % 4 + 4 * i][place_of(lane / 4)] = tf32(b[i][lane]);
  }
}

void load_operands(const MatrixShape& shape, const FragmentRegister* a, const FragmentRegister* b, Dense& dense) {
  switch (shape.type) {
    case MatrixType::F16:
      return load_pairs<half_to_float>(shape, a, b, dense);
    case MatrixType::BF16:
      return load_pairs<bfloat_to_float>(shape, a, b, dense);
    case MatrixType::TF32:
      break;
  }
  load_tf32(shape, a, b, dense);
}

/// Accumulator registers 0 and 1 hold the upper eight rows, 2 and 3 the lower; the odd ones the odd columns.
float* quad(Dense& dense, int i, int g) { return &dense.c[g + i / 2 * 8][i % 2 * 4]; }

using Row = float __attribute__((vector_size(sizeof(float) * kColumns)));

/// Products of these types are exact in float32, so a sum rounds once a product, fused or not.
void accumulate(int depth, Dense& dense) {
  Row b[kMostDepth];
  std::memcpy(b, dense.b, sizeof b);
  for (int row = 0; row < kRows; ++row) {
    Row sums;
    std::memcpy(&sums, dense.c[row], sizeof sums);
    for (int k = 0; k < depth; ++k) sums += dense.a[row][k] * b[k];
    std::memcpy(dense.c[row], &sums, sizeof sums);
  }
}

}  // namespace

void multiply(const MatrixShape& shape, const FragmentRegister* a, const FragmentRegister* b, const FragmentRegister* c,
              uint32_t* const* d) {
  Dense dense;
  load_operands(shape, a, b, dense);
  for (int i = 0; i < 4; ++i) {
    for (int g = 0; g < 8; ++g) std::memcpy(quad(dense, i, g), c[i] + 4 * g, 16);
  }
  accumulate(shape.depth, dense);
  for (int i = 0; i < 4; ++i) {
    for (int g = 0; g < 8; ++g) std::memcpy(d[i] + 4 * g, quad(dense, i, g), 16);
  }
}

void distribute(const uint16_t (&matrix)[8][8], bool transposed, uint32_t* lanes) {
  for (int lane = 0; lane < kWarp; ++lane) {
    const int g = lane / 4, t = lane % 4 * 2;
    const uint32_t low = transposed ? matrix[t][g] : matrix[g][t], high = transposed ? matrix[t + 1][g] : matrix[g][t + 1];
    lanes[lane] = low | high << 16;
  }
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  // 2^112 moves a half's exponent (bias 15) to that of a float (bias 127); denormals come out right.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const uint32_t finite = std::bit_cast<uint32_t>(value), special = 0x7f800000u | magnitude << 13;
  return std::bit_cast<float>(sign | (magnitude >= 0x7c00 ? special : finite));
}

float bfloat_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7fff);
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {  // below 2^-14: a multiple of 2^-24
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p24f;
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(scaled)));
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13);
}

uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace heddle::emulator
