#include "src/codegen/clike/prelude.h"

namespace heddle::codegen::clike {

namespace {

constexpr const char* kText = R"(// Arithmetic of formulas: floor division, total for zero divisors; integers wrap; min and max of reals are NaN when either is.
HD_FN vi32 splat(i32 x) { return x; }
HD_FN vi64 splat(i64 x) { return x; }
HD_FN vu32 splat(u32 x) { return x; }
HD_FN vf32 splat(f32 x) { return x; }
HD_FN vbool splat(bool x) { return x; }
HD_FN vi64 wide(vi32 x) { return x; }
HD_FN vbool narrow(vbool x) { return x; }
HD_FN vf32 to_real(vi32 x) { return (f32)x; }
HD_FN vf32 to_real(vi64 x) { return (f32)x; }
HD_FN vi32 select(vbool c, vi32 a, vi32 b) { return c ? a : b; }
HD_FN vu32 select(vbool c, vu32 a, vu32 b) { return c ? a : b; }
HD_FN vi64 select(vbool c, vi64 a, vi64 b) { return c ? a : b; }
HD_FN vf32 select(vbool c, vf32 a, vf32 b) { return c ? a : b; }
HD_FN vbool select(vbool c, vbool a, vbool b) { return c ? a : b; }
HD_FN i32 imin(i32 a, i32 b) { return a < b ? a : b; }
HD_FN i64 imin(i64 a, i64 b) { return a < b ? a : b; }
HD_FN i32 imax(i32 a, i32 b) { return a > b ? a : b; }
HD_FN i64 imax(i64 a, i64 b) { return a > b ? a : b; }
HD_FN i32 iabs(i32 a) { return a < 0 ? -a : a; }
HD_FN i64 wrap_add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
HD_FN i64 wrap_sub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
HD_FN i64 wrap_mul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
HD_FN i64 wrap_neg(i64 a) { return (i64)(0 - (u64)a); }
HD_FN i64 iabs(i64 a) { return a < 0 ? wrap_neg(a) : a; }
HD_FN i32 clamp_i32(i64 x) { return (i32)imax(imin(x, (i64)2147483647), (i64)-2147483647 - 1); }
HD_FN i32 floor_div(i32 a, i32 b) {
  const bool zero = b == 0, minus = b == -1;
  const i32 d = zero | minus ? 1 : b, q = a / d, r = a - q * d;
  const i32 floor = q - (i32)(r != 0 & (r ^ d) < 0);
  return zero ? 0 : minus ? (i32)(0 - (u32)a) : floor;
}
HD_FN i64 floor_div(i64 a, i64 b) {
  const bool zero = b == 0, minus = b == -1;
  const i64 d = zero | minus ? 1 : b, q = a / d, r = a - q * d;
  const i64 floor = q - (i64)(r != 0 & (r ^ d) < 0);
  return zero ? 0 : minus ? wrap_neg(a) : floor;
}
HD_FN i32 floor_mod(i32 a, i32 b) {
  const bool none = b == 0 | b == -1;
  const i32 d = none ? 1 : b, r = a - a / d * d;
  return none ? 0 : r != 0 & (r ^ d) < 0 ? r + d : r;
}
HD_FN i64 floor_mod(i64 a, i64 b) {
  const bool none = b == 0 | b == -1;
  const i64 d = none ? 1 : b, r = a - a / d * d;
  return none ? 0 : r != 0 & (r ^ d) < 0 ? r + d : r;
}
HD_FN vi64 clamp_index(vi64 index, i64 last) { return imin(imax(index, (i64)0), last); }
// Which halves of a register of two 16-bit elements stay: bits `bit` and `bit + 1` of `live`.
HD_FN vu32 keep_pair(vu32 live, i32 bit) { const vu32 x = live >> bit; return ((x & 1) | (x & 2) << 15) * 0xffff; }
HD_FN vu32 keep_word(vu32 live, i32 bit) { return 0u - (live >> bit & 1u); }
HD_FN vf32 real_min(vf32 a, vf32 b) { return a < b | a != a ? a : b; }
HD_FN vf32 real_max(vf32 a, vf32 b) { return a > b | a != a ? a : b; }
HD_FN vf32 real_abs(vf32 x) { return x < 0.0f ? -x : x == 0.0f ? 0.0f : x; }
HD_FN vf32 real_exp2(vf32 x) { return exp2_approx(x); }
HD_FN vf32 real_log2(vf32 x) { return log2_approx(x); }
HD_FN vf32 real_exp(vf32 x) { return exp2_approx(x * 1.44269504f); }
HD_FN vf32 real_log(vf32 x) { return log2_approx(x) * 0.693147181f; }
HD_FN vf32 real_sqrt(vf32 x) { return square_root(x); }
HD_FN vf32 real_sigmoid(vf32 x) { return 1.0f / (1.0f + real_exp(-x)); }
HD_FN vf32 real_tanh(vf32 x) {
  const f32 y = x * x;
  const f32 series = fused_multiply_add(fused_multiply_add(fused_multiply_add(y, -0.0539682540f, 0.133333333f), y, -0.333333333f), y * x, x);
  const f32 whole = 1.0f - 2.0f / (real_exp(2.0f * x) + 1.0f);
  return y < 0.05f ? series : whole;
}
)";

}  // namespace

const char* arithmetic_prelude() { return kText; }

}  // namespace heddle::codegen::clike
