// The preludes in front of emitted text: types, builtins and inline assembly of each dialect, without any include.
//
// Types: u16 u32 i32 i64 f32 are the same in all lanes of a warp; with a `v` in front, and vbool, they may differ between lanes.
// Emitted text keeps these rules, so that a host can execute a warp as vectors: branches and trip counts depend on uniform values only;
// varying conditions go through select() and predicates; `&`, `|` and `!` join vbools; uniform values become varying by splat(); memory
// is read and written by prelude functions of (uniform base, varying index, predicate) alone.
#pragma once

namespace heddle::codegen::clike {

/// Integer and real arithmetic with Heddle's meaning, on scalar types; needs HD_FN, the types, and exp2_approx, log2_approx, square_root
/// and fused_multiply_add of f32 before it.
const char* arithmetic_prelude();
/// What CUDA C++ adds, for sm_80 and later; the line `//---- arithmetic ----` is the place of arithmetic_prelude().
const char* cuda_prelude();
/// The same of HIP, for gfx908 and later of gfx9; needs HD_SHARED_BYTES.
const char* hip_prelude();

}  // namespace heddle::codegen::clike
