// Lowers the plan of an attention kernel to its tile program: one block of fused attention with a running softmax.
//
// Method: online softmax over key steps (Milakov and Gimelshein 2018; Dao et al. 2022), in powers of two.
// Before: the plan's passes have disjoint masks and nests of the plan's tile shape; divisors are guarded.
// After: a program that ir::verify accepts. Conventions that schedules may rely on:
//  - Scores reach the softmax in units of log2: Q carries scale * log2(e) when there is no score formula; with one, Q carries the
//    scale only and the score's map multiplies its result by log2(e).
//  - The running maximum starts at -FLT_MAX, so a row that has seen only -inf keeps l == 0; such a row gives O = 0, LSE = -inf.
//  - Maps whose output is a Row read Rows only and never mention k. A Fragment map may read Rows, broadcast along columns.
//  - Masked scores are the constant -inf (ir::real_const(-inf), which formulas cannot spell).
//  - Names of values in pass i > 0 carry the suffix ".i".
#pragma once
#include "src/ir/tile_program.h"
#include "src/plan/kernel_plan.h"

namespace heddle::lower {

ir::TileProgram lower_attention(const plan::KernelPlan& plan);

}  // namespace heddle::lower
