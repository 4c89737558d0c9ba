// The prelude that executes emitted kernels on this host: a warp is one thread of control, a value that may differ between lanes a vector.
#pragma once
#include <string>

#include "src/codegen/clike/prelude.h"

namespace heddle::test {

/// What the text asks of the machine that runs it (vector_machine.h); the same structure stands in the prelude.
struct MachineInterface {
  void* machine;
  int (*warp)(void* machine);
  int (*block)(void* machine, int axis);
  void (*block_sync)(void* machine);
  void (*copy)(void* machine, int address, const void* from, int bytes, int where);  ///< cp.async of one lane.
  void (*commit)(void* machine);
  void (*wait)(void* machine, int in_flight);
  unsigned char* (*shared)(void* machine, int address, int bytes, int write);        ///< Checked.
  unsigned char* (*global)(void* machine, const void* address, int bytes, int write);
};

/// Types, and the scalar arithmetic of kernels applied lane by lane.
inline std::string vector_prelude(int lanes) {
  return "#define HD_LANES " + std::to_string(lanes) + R"(
#include <cmath>
#include <cstring>
typedef int i32; typedef unsigned u32; typedef long i64; typedef unsigned long u64;  // comparisons of long vectors give long vectors
typedef unsigned short u16; typedef unsigned char u8; typedef float f32;
#define HD_FN [[maybe_unused]] static inline __attribute__((always_inline))
#define HD_MEMBER inline __attribute__((always_inline))
#define HD_UNROLL
#define HD_UNROLL_2
#define HD_LOOP
#define HD_KERNEL(name, threads) extern "C" void name
#define HD_ARGUMENTS const
#define HD_INF __builtin_inff()
#define HD_LOWEST (-3.40282347e+38f)
namespace scalar {
typedef i32 vi32; typedef u32 vu32; typedef i64 vi64; typedef f32 vf32; typedef bool vbool;
HD_FN f32 exp2_approx(f32 x) { return std::exp2(x); }
HD_FN f32 log2_approx(f32 x) { return std::log2(x); }
HD_FN f32 square_root(f32 x) { return std::sqrt(x); }
HD_FN f32 fused_multiply_add(f32 a, f32 b, f32 c) { return std::fma(a, b, c); }
)" + codegen::clike::arithmetic_prelude() +
         R"(}
typedef i32 vi32 __attribute__((ext_vector_type(HD_LANES)));
typedef u32 vu32 __attribute__((ext_vector_type(HD_LANES)));
typedef i64 vi64 __attribute__((ext_vector_type(HD_LANES)));
typedef f32 vf32 __attribute__((ext_vector_type(HD_LANES)));
typedef vi32 vbool;
#define HD_EACH for (int i = 0; i < HD_LANES; ++i)
HD_FN vi32 splat(i32 x) { return (vi32)x; }
HD_FN vu32 splat(u32 x) { return (vu32)x; }
HD_FN vi64 splat(i64 x) { return (vi64)x; }
HD_FN vf32 splat(f32 x) { return (vf32)x; }
HD_FN vbool splat(bool x) { return (vi32)(x ? -1 : 0); }
HD_FN vi64 wide(vi32 x) { return __builtin_convertvector(x, vi64); }
HD_FN vbool narrow(vi32 x) { return x; }
HD_FN vbool narrow(vi64 x) { return __builtin_convertvector(x, vi32); }
HD_FN bool narrow(bool x) { return x; }
HD_FN vf32 to_real(vi32 x) { return __builtin_convertvector(x, vf32); }
HD_FN vf32 to_real(vi64 x) { return __builtin_convertvector(x, vf32); }
#define HD_SELECT(T) HD_FN T select(vbool c, T a, T b) { T r; HD_EACH r[i] = c[i] ? a[i] : b[i]; return r; }
HD_SELECT(vi32) HD_SELECT(vu32) HD_SELECT(vi64) HD_SELECT(vf32)
#define HD_ONE(R, f, A) HD_FN R f(A a) { R r; HD_EACH r[i] = scalar::f(a[i]); return r; }
#define HD_TWO(R, f, A, B) HD_FN R f(A a, B b) { R r; HD_EACH r[i] = scalar::f(a[i], b[i]); return r; }
#define HD_FIXED(R, f, A, B) HD_FN R f(A a, B b) { R r; HD_EACH r[i] = scalar::f(a[i], b); return r; }
#define HD_INTEGERS(f) using scalar::f; HD_TWO(vi32, f, vi32, vi32) HD_TWO(vi64, f, vi64, vi64)
HD_INTEGERS(imin) HD_INTEGERS(imax) HD_INTEGERS(floor_div) HD_INTEGERS(floor_mod)
HD_FIXED(vi32, floor_div, vi32, i32) HD_FIXED(vi64, floor_div, vi64, i64) HD_FIXED(vi32, floor_mod, vi32, i32) HD_FIXED(vi64, floor_mod, vi64, i64)
using scalar::iabs; using scalar::wrap_add; using scalar::wrap_sub; using scalar::wrap_mul; using scalar::wrap_neg; using scalar::clamp_i32;
HD_ONE(vi32, iabs, vi32) HD_ONE(vi64, iabs, vi64) HD_ONE(vi64, wrap_neg, vi64)
HD_TWO(vi64, wrap_add, vi64, vi64) HD_TWO(vi64, wrap_sub, vi64, vi64) HD_TWO(vi64, wrap_mul, vi64, vi64)
HD_FIXED(vi64, clamp_index, vi64, i64)
#define HD_REAL(f) using scalar::f; HD_ONE(vf32, f, vf32)
HD_REAL(real_abs) HD_REAL(real_exp2) HD_REAL(real_log2) HD_REAL(real_exp) HD_REAL(real_log) HD_REAL(real_sqrt) HD_REAL(real_sigmoid) HD_REAL(real_tanh)
using scalar::real_min; using scalar::real_max;
HD_TWO(vf32, real_min, vf32, vf32) HD_TWO(vf32, real_max, vf32, vf32)
HD_FN vu32 keep_pair(vu32 live, i32 bit) { vu32 r; HD_EACH r[i] = scalar::keep_pair(live[i], bit); return r; }
HD_FN vu32 keep_word(vu32 live, i32 bit) { vu32 r; HD_EACH r[i] = scalar::keep_word(live[i], bit); return r; }
HD_FN vu32 word(vf32 x) { vu32 r; std::memcpy(&r, &x, sizeof r); return r; }
HD_FN vf32 vmax(vf32 a, vf32 b) { vf32 r; HD_EACH r[i] = a[i] > b[i] || b[i] != b[i] ? a[i] : b[i]; return r; }  // never the NaN
HD_FN vf32 fused_multiply_add(vf32 a, vf32 b, vf32 c) { vf32 r; HD_EACH r[i] = std::fma(a[i], b[i], c[i]); return r; }

struct Machine {
  void* machine;
  int (*warp)(void*);
  int (*block)(void*, int);
  void (*block_sync)(void*);
  void (*copy)(void*, int, const void*, int, int);
  void (*commit)(void*);
  void (*wait)(void*, int);
  u8* (*shared)(void*, int, int, int);
  u8* (*global)(void*, const void*, int, int);
};
static Machine hd;
extern "C" void hd_attach(const Machine* machine) { hd = *machine; }

HD_FN i32 shared_base() { return 0; }
HD_FN i32 warp_id() { return hd.warp(hd.machine); }
HD_FN vi32 thread_id() { vi32 r; HD_EACH r[i] = i; return r + warp_id() * HD_LANES; }
HD_FN i32 block_x() { return hd.block(hd.machine, 0); }
HD_FN i32 block_y() { return hd.block(hd.machine, 1); }
HD_FN i32 block_z() { return hd.block(hd.machine, 2); }
HD_FN void block_sync() { hd.block_sync(hd.machine); }
HD_FN void warp_sync() {}
HD_FN vf32 shfl_xor(vf32 x, i32 mask) { vf32 r; HD_EACH r[i] = x[i ^ mask]; return r; }
HD_FN vu32 shfl_xor(vu32 x, i32 mask) { vu32 r; HD_EACH r[i] = x[i ^ mask]; return r; }
HD_FN vf32 shfl_idx(vf32 x, vi32 lane) { vf32 r; HD_EACH r[i] = x[lane[i]]; return r; }
HD_FN vu32 shfl_idx(vu32 x, vi32 lane) { vu32 r; HD_EACH r[i] = x[lane[i]]; return r; }
template <class T> HD_FN T hd_load(const void* address) { T x; std::memcpy(&x, hd.global(hd.machine, address, sizeof(T), 0), sizeof(T)); return x; }
template <class T> HD_FN void hd_store(void* address, T x) { std::memcpy(hd.global(hd.machine, address, sizeof(T), 1), &x, sizeof(T)); }
HD_FN vi32 ld_global_i32(const i32* base, vi64 index) { vi32 r; HD_EACH r[i] = hd_load<i32>(base + index[i]); return r; }
HD_FN vi64 ld_global_i64(const i64* base, vi64 index) { vi64 r; HD_EACH r[i] = hd_load<i64>(base + index[i]); return r; }
HD_FN vi32 ld_global_u8(const u8* base, vi64 index) { vi32 r; HD_EACH r[i] = hd_load<u8>(base + index[i]); return r; }
HD_FN vf32 ld_global_f32(const f32* base, vi64 index) { vf32 r; HD_EACH r[i] = hd_load<f32>(base + index[i]); return r; }
HD_FN i32 ld_uniform_i32(const i32* base, i64 index) { return hd_load<i32>(base + index); }
HD_FN i64 ld_uniform_i64(const i64* base, i64 index) { return hd_load<i64>(base + index); }
HD_FN void st_global_f32(f32* base, vi64 index, vf32 x, vbool where) { HD_EACH if (where[i]) hd_store<f32>(base + index[i], x[i]); }
struct Chunk { u32 x[4]; };
template <class T> HD_FN void st_global_16(T* base, vi64 index, const vu32 (&x)[4], vbool where) {
  HD_EACH if (where[i]) hd_store<Chunk>(base + index[i], Chunk{{x[0][i], x[1][i], x[2][i], x[3][i]}});
}
template <class T> HD_FN T hd_shared(i32 address) { T x; std::memcpy(&x, hd.shared(hd.machine, address, sizeof(T), 0), sizeof(T)); return x; }
HD_FN void st_shared_4(vi32 address, vu32 x) { HD_EACH { const u32 y = x[i]; std::memcpy(hd.shared(hd.machine, address[i], 4, 1), &y, 4); } }
HD_FN void ld_shared_16(vu32 (&x)[4], vi32 address) {
  HD_EACH { const Chunk c = hd_shared<Chunk>(address[i]); for (int j = 0; j < 4; ++j) x[j][i] = c.x[j]; }
}
HD_FN vf32 ld_shared_f32(vi32 address) { vf32 r; HD_EACH r[i] = hd_shared<f32>(address[i]); return r; }
HD_FN void ld_shared_f32x4(vf32 (&x)[4], vi32 address) {
  HD_EACH { const Chunk c = hd_shared<Chunk>(address[i]); for (int j = 0; j < 4; ++j) std::memcpy((f32*)&x[j] + i, &c.x[j], 4); }
}
HD_FN u16 hd_half(f32 x) { const _Float16 h = (_Float16)x; u16 r; std::memcpy(&r, &h, 2); return r; }
HD_FN f32 hd_from_half(u16 x) { _Float16 h; std::memcpy(&h, &x, 2); return (f32)h; }
HD_FN u16 hd_bfloat(f32 x) {
  u32 r; std::memcpy(&r, &x, 4);
  if (x != x) return 0x7fff;
  return (u16)((r + 0x7fff + ((r >> 16) & 1)) >> 16);
}
HD_FN f32 hd_from_bfloat(u16 x) { const u32 r = (u32)x << 16; f32 f; std::memcpy(&f, &r, 4); return f; }
HD_FN vu32 pack_f16(vf32 low, vf32 high) { vu32 r; HD_EACH r[i] = hd_half(low[i]) | (u32)hd_half(high[i]) << 16; return r; }
HD_FN vu32 pack_bf16(vf32 low, vf32 high) { vu32 r; HD_EACH r[i] = hd_bfloat(low[i]) | (u32)hd_bfloat(high[i]) << 16; return r; }
)";
}

/// Operations of NVIDIA GPUs. PTX ISA: ldmatrix, and fragments of mma.m16n8k16.
inline std::string vector_prelude_cuda() {
  return vector_prelude(32) + R"(
template <class T> HD_FN void cp_async_16(vi32 address, const T* base, vi64 index, vbool where) {
  HD_EACH hd.copy(hd.machine, address[i], base + index[i], 16, where[i]);
}
HD_FN void cp_async_commit() { hd.commit(hd.machine); }
template <int kInFlight> HD_FN void cp_async_wait() { hd.wait(hd.machine, kInFlight); }
HD_FN void hd_ldmatrix(vu32 (&x)[4], vi32 address, bool transposed) {
  for (int m = 0; m < 4; ++m) {
    u16 rows[8][8];
    for (int r = 0; r < 8; ++r) std::memcpy(rows[r], hd.shared(hd.machine, address[8 * m + r], 16, 0), 16);
    HD_EACH {
      const int g = i >> 2, t = 2 * (i & 3);
      x[m][i] = transposed ? rows[t][g] | (u32)rows[t + 1][g] << 16 : rows[g][t] | (u32)rows[g][t + 1] << 16;
    }
  }
}
HD_FN void ldmatrix_x4(vu32 (&x)[4], vi32 address) { hd_ldmatrix(x, address, false); }
HD_FN void ldmatrix_x4_trans(vu32 (&x)[4], vi32 address) { hd_ldmatrix(x, address, true); }
template <class Convert> HD_FN void hd_mma(vf32 (&c)[4], const vu32 (&a)[4], vu32 b0, vu32 b1, Convert convert) {
  f32 A[16][16], B[16][8];
  HD_EACH {
    const int g = i >> 2, t = 2 * (i & 3);
    for (int half = 0; half < 2; ++half) {
      for (int r = 0; r < 4; ++r) A[g + 8 * (r & 1)][t + half + 8 * (r >> 1)] = convert((u16)(a[r][i] >> 16 * half));
      B[t + half][g] = convert((u16)(b0[i] >> 16 * half));
      B[t + half + 8][g] = convert((u16)(b1[i] >> 16 * half));
    }
  }
  HD_EACH for (int r = 0; r < 4; ++r) {
    const int row = (i >> 2) + 8 * (r >> 1), column = 2 * (i & 3) + (r & 1);
    f32 sum = c[r][i];
    for (int k = 0; k < 16; ++k) sum += A[row][k] * B[k][column];
    c[r][i] = sum;
  }
}
HD_FN void mma_f16(vf32 (&c)[4], const vu32 (&a)[4], vu32 b0, vu32 b1) { hd_mma(c, a, b0, b1, hd_from_half); }
HD_FN void mma_bf16(vf32 (&c)[4], const vu32 (&a)[4], vu32 b0, vu32 b1) { hd_mma(c, a, b0, b1, hd_from_bfloat); }
)";
}

/// Operations of AMD GPUs: waves of 64, and the layouts of v_mfma_f32_16x16x16 (CDNA ISA).
inline std::string vector_prelude_hip() {
  return vector_prelude(64) + R"(
HD_FN void keep_order() {}
struct Words { u32 x[2]; };
template <class T> HD_FN void ld_global_8(vu32 (&x)[2], const T* base, vi64 index, vbool where) {
  HD_EACH { Words c = {}; if (where[i]) c = hd_load<Words>(base + index[i]); for (int j = 0; j < 2; ++j) x[j][i] = c.x[j]; }
}
template <class T> HD_FN void ld_global_16(vu32 (&x)[4], const T* base, vi64 index, vbool where) {
  HD_EACH { Chunk c = {}; if (where[i]) c = hd_load<Chunk>(base + index[i]); for (int j = 0; j < 4; ++j) x[j][i] = c.x[j]; }
}
template <class T> HD_FN void st_global_8(T* base, vi64 index, const vu32 (&x)[2], vbool where) {
  HD_EACH if (where[i]) hd_store<Words>(base + index[i], Words{{x[0][i], x[1][i]}});
}
HD_FN void ld_shared_8(vu32 (&x)[2], vi32 address) {
  HD_EACH { const Words c = hd_shared<Words>(address[i]); for (int j = 0; j < 2; ++j) x[j][i] = c.x[j]; }
}
template <class T> HD_FN void copy_16(vi32 address, const T* base, vi64 index, vbool where) {
  HD_EACH {
    Chunk c = {};
    if (where[i]) c = hd_load<Chunk>(base + index[i]);
    std::memcpy(hd.shared(hd.machine, address[i], 16, 1), &c, 16);
  }
}
template <int kRow> HD_FN void gather_4x2(vu32 (&x)[2], vi32 address) {
  HD_EACH for (int j = 0; j < 2; ++j) x[j][i] = hd_shared<u16>(address[i] + 2 * j * kRow) | (u32)hd_shared<u16>(address[i] + (2 * j + 1) * kRow) << 16;
}
template <int kRow> HD_FN void gather_4x4(vu32 (&x)[4], vi32 address) {
  HD_EACH for (int j = 0; j < 4; ++j) x[j][i] = hd_shared<u32>(address[i] + j * kRow);
}
template <class Element> HD_FN void hd_mfma(vf32 (&c)[4], Element a, Element b) {
  f32 A[16][16], B[16][16];
  HD_EACH for (int x = 0; x < 4; ++x) A[i & 15][4 * (i >> 4) + x] = a(i, x), B[4 * (i >> 4) + x][i & 15] = b(i, x);
  HD_EACH for (int x = 0; x < 4; ++x) {
    f32 sum = c[x][i];
    for (int k = 0; k < 16; ++k) sum += A[4 * (i >> 4) + x][k] * B[k][i & 15];
    c[x][i] = sum;
  }
}
struct Halves { const vu32* words; f32 (*convert)(u16); f32 operator()(int i, int x) const { return convert((u16)(words[x >> 1][i] >> 16 * (x & 1))); } };
struct Reals { const vu32* words; f32 operator()(int i, int x) const { const u32 w = words[x][i]; f32 f; std::memcpy(&f, &w, 4); return f; } };
HD_FN void mma_f16(vf32 (&c)[4], const vu32 (&a)[2], const vu32 (&b)[2]) { hd_mfma(c, Halves{a, hd_from_half}, Halves{b, hd_from_half}); }
HD_FN void mma_bf16(vf32 (&c)[4], const vu32 (&a)[2], const vu32 (&b)[2]) { hd_mfma(c, Halves{a, hd_from_bfloat}, Halves{b, hd_from_bfloat}); }
HD_FN void mma_f32(vf32 (&c)[4], const vu32 (&a)[4], const vu32 (&b)[4]) { hd_mfma(c, Reals{a}, Reals{b}); }
)";
}

}  // namespace heddle::test
