// Tensor core operations of a warp on fragments in registers: what each lane holds is that of the PTX ISA, "Matrix
// multiply-accumulate".
//
// A fragment register is an array of 32 lanes. Lane 4g + t holds row g (and g + 8) and columns 2t, 2t + 1 (and + 8) of A and C,
// column g and rows 2t, 2t + 1 (and + 8) of B; tf32 operands have one value a register. Sums are float32 in order of k, rounded
// once a product; the device rounds otherwise, so results are compared with tolerances, never bit by bit.
#pragma once
#include <array>
#include <cstdint>

#include "test/emulator/access_cost.h"

namespace heddle::emulator {

enum class MatrixType : uint8_t { F16, BF16, TF32 };

/// A shape m16n8k<depth> with operands of one type and a float32 accumulator: 8 and 16 for F16 and BF16, 4 and 8 for TF32.
struct MatrixShape {
  MatrixType type;
  int depth;
  int a_registers() const { return type == MatrixType::TF32 ? depth / 2 : depth / 4; }
  int b_registers() const { return a_registers() / 2; }
};

using FragmentRegister = const uint32_t*;  ///< 32 lanes.

/// d = a * b + c. Registers of d may be those of c.
void multiply(const MatrixShape& shape, const FragmentRegister* a, const FragmentRegister* b, const FragmentRegister* c,
              uint32_t* const* d);

/// Distributes an 8x8 matrix of 16-bit elements (row-major, 128 bytes) over the lanes as ldmatrix does: lane 4g + t gets
/// columns 2t, 2t + 1 of row g; transposed: rows 2t, 2t + 1 of column g.
void distribute(const uint16_t (&matrix)[8][8], bool transposed, uint32_t* lanes);

float half_to_float(uint16_t bits);
float bfloat_to_float(uint16_t bits);
/// Round to nearest even; NaN stays NaN.
uint16_t float_to_half(float value);
uint16_t float_to_bfloat(float value);

}  // namespace heddle::emulator
