#include "src/codegen/clike/prelude.h"

namespace heddle::codegen::clike {

namespace {

constexpr const char* kText = R"(// Prelude of Heddle's kernels, HIP, waves of 64 (gfx908, gfx90a, gfx942). Compiler builtins only: hipRTC and clang take it without a header.
typedef int i32; typedef unsigned u32; typedef long long i64; typedef unsigned long long u64;
typedef unsigned short u16; typedef unsigned char u8; typedef float f32;
typedef i32 vi32; typedef u32 vu32; typedef i64 vi64; typedef f32 vf32; typedef bool vbool;  // may differ between lanes
typedef u32 hd_u32x2 __attribute__((ext_vector_type(2)));
typedef u32 hd_u32x4 __attribute__((ext_vector_type(4)));
typedef f32 hd_f32x4 __attribute__((ext_vector_type(4)));
typedef short hd_i16x2 __attribute__((ext_vector_type(2)));
typedef short hd_i16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 hd_f16x2 __attribute__((ext_vector_type(2)));
typedef _Float16 hd_f16x4 __attribute__((ext_vector_type(4)));
#define HD_FN [[maybe_unused]] static __attribute__((device)) inline __attribute__((always_inline))
#define HD_MEMBER __attribute__((device)) inline __attribute__((always_inline))
#define HD_UNROLL _Pragma("unroll")
#define HD_UNROLL_2 _Pragma("unroll 2")
#define HD_LOOP _Pragma("nounroll")
#define HD_KERNEL(name, threads) extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(threads, threads))) void name
#define HD_ARGUMENTS const
#define HD_INF __builtin_inff()
#define HD_LOWEST (-3.40282347e+38f)
#define HD_LDS __attribute__((address_space(3)))

__attribute__((device)) __attribute__((shared)) __attribute__((aligned(1024))) unsigned char hd_shared[HD_SHARED_BYTES];
HD_FN i32 shared_base() { return (i32)(u32)(HD_LDS unsigned char*)hd_shared; }
template <class T> HD_FN HD_LDS T* hd_at(i32 address) { return (HD_LDS T*)(u32)address; }
HD_FN vi32 thread_id() { return __builtin_amdgcn_workitem_id_x(); }
HD_FN i32 warp_id() { return __builtin_amdgcn_readfirstlane(__builtin_amdgcn_workitem_id_x() >> 6); }
HD_FN i32 block_x() { return __builtin_amdgcn_workgroup_id_x(); }
HD_FN i32 block_y() { return __builtin_amdgcn_workgroup_id_y(); }
HD_FN i32 block_z() { return __builtin_amdgcn_workgroup_id_z(); }
HD_FN void block_sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
// Instructions stay on their side: fewer loads are under way at once, and fewer registers hold them.
HD_FN void keep_order() { __builtin_amdgcn_sched_barrier(0); }
HD_FN void warp_sync() { __builtin_amdgcn_wave_barrier(); }
HD_FN vi32 hd_lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
HD_FN vf32 shfl_xor(vf32 x, i32 mask) {
  return __builtin_bit_cast(f32, __builtin_amdgcn_ds_bpermute((hd_lane() ^ mask) << 2, __builtin_bit_cast(i32, x)));
}
HD_FN vu32 shfl_xor(vu32 x, i32 mask) { return (u32)__builtin_amdgcn_ds_bpermute((hd_lane() ^ mask) << 2, (i32)x); }

#if __has_builtin(__builtin_amdgcn_exp2f)
HD_FN vf32 exp2_approx(vf32 x) { return __builtin_amdgcn_exp2f(x); }
HD_FN vf32 log2_approx(vf32 x) { return __builtin_amdgcn_logf(x); }
#else
HD_FN vf32 exp2_approx(vf32 x) { f32 y; asm("v_exp_f32 %0, %1" : "=v"(y) : "v"(x)); return y; }
HD_FN vf32 log2_approx(vf32 x) { f32 y; asm("v_log_f32 %0, %1" : "=v"(y) : "v"(x)); return y; }
#endif
HD_FN vf32 square_root(vf32 x) { return __builtin_sqrtf(x); }
HD_FN vf32 fused_multiply_add(vf32 a, vf32 b, vf32 c) { return __builtin_fmaf(a, b, c); }
HD_FN vf32 vmax(vf32 a, vf32 b) { return __builtin_fmaxf(a, b); }  // never the NaN
HD_FN vu32 word(vf32 x) { return __builtin_bit_cast(u32, x); }
HD_FN vu32 pack_f16(vf32 low, vf32 high) {
  const hd_f16x2 x = {(_Float16)low, (_Float16)high};
  return __builtin_bit_cast(u32, x);
}
HD_FN vu32 hd_bf16(vf32 x) {  // to nearest, ties to even
  const u32 y = __builtin_bit_cast(u32, x);
  return x != x ? 0x7fffu : (y + 0x7fffu + (y >> 16 & 1u)) >> 16;
}
HD_FN vu32 pack_bf16(vf32 low, vf32 high) { return hd_bf16(low) | hd_bf16(high) << 16; }
//---- arithmetic ----

// Global memory. Indices count elements from a uniform base.
HD_FN vi32 ld_global_i32(const i32* base, vi64 index) { return base[index]; }
HD_FN vi64 ld_global_i64(const i64* base, vi64 index) { return base[index]; }
HD_FN vi32 ld_global_u8(const u8* base, vi64 index) { return base[index]; }
HD_FN vf32 ld_global_f32(const f32* base, vi64 index) { return base[index]; }
HD_FN i32 ld_uniform_i32(const i32* base, i64 index) { return base[index]; }
HD_FN i64 ld_uniform_i64(const i64* base, i64 index) { return base[index]; }
HD_FN void st_global_f32(f32* base, vi64 index, vf32 x, vbool where) { if (where) base[index] = x; }
template <class T> HD_FN void ld_global_8(vu32 (&x)[2], const T* base, vi64 index, vbool where) {
  hd_u32x2 y = 0;
  if (where) y = *(const hd_u32x2*)(base + index);
  x[0] = y.x; x[1] = y.y;
}
template <class T> HD_FN void ld_global_16(vu32 (&x)[4], const T* base, vi64 index, vbool where) {
  hd_u32x4 y = 0;
  if (where) y = *(const hd_u32x4*)(base + index);
  x[0] = y.x; x[1] = y.y; x[2] = y.z; x[3] = y.w;
}
template <class T> HD_FN void st_global_8(T* base, vi64 index, const vu32 (&x)[2], vbool where) {
  if (where) *(hd_u32x2*)(base + index) = hd_u32x2{x[0], x[1]};
}
template <class T> HD_FN void st_global_16(T* base, vi64 index, const vu32 (&x)[4], vbool where) {
  if (where) *(hd_u32x4*)(base + index) = hd_u32x4{x[0], x[1], x[2], x[3]};
}

// Shared memory. Addresses count bytes.
HD_FN void ld_shared_8(vu32 (&x)[2], vi32 address) { const hd_u32x2 y = *hd_at<hd_u32x2>(address); x[0] = y.x; x[1] = y.y; }
HD_FN void ld_shared_16(vu32 (&x)[4], vi32 address) {
  const hd_u32x4 y = *hd_at<hd_u32x4>(address);
  x[0] = y.x; x[1] = y.y; x[2] = y.z; x[3] = y.w;
}
// 16 bytes from global to shared memory; zeros where `where` is false.
template <class T> HD_FN void copy_16(vi32 address, const T* base, vi64 index, vbool where) {
  vu32 x[4];
  ld_global_16(x, base, index, where);
  *hd_at<hd_u32x4>(address) = hd_u32x4{x[0], x[1], x[2], x[3]};
}
// The same element of 4 rows of shared memory, kRow bytes apart: of 16 bits in 2 words, of 32 bits in 4.
template <int kRow> HD_FN void gather_4x2(vu32 (&x)[2], vi32 address) {
  x[0] = (u32)*hd_at<u16>(address) | (u32)*hd_at<u16>(address + kRow) << 16;
  x[1] = (u32)*hd_at<u16>(address + 2 * kRow) | (u32)*hd_at<u16>(address + 3 * kRow) << 16;
}
template <int kRow> HD_FN void gather_4x4(vu32 (&x)[4], vi32 address) {
  HD_UNROLL for (i32 i = 0; i < 4; ++i) x[i] = *hd_at<u32>(address + i * kRow);
}

// Matrix cores: c[16 x 16] += a[16 x 16] b[16 x 16].
#define HD_F32X4(x) hd_f32x4{x[0], x[1], x[2], x[3]}
HD_FN void hd_put(vf32 (&c)[4], hd_f32x4 x) { c[0] = x.x; c[1] = x.y; c[2] = x.z; c[3] = x.w; }
HD_FN void mma_f16(vf32 (&c)[4], const vu32 (&a)[2], const vu32 (&b)[2]) {
  const hd_f16x4 x = __builtin_bit_cast(hd_f16x4, (hd_u32x2{a[0], a[1]})), y = __builtin_bit_cast(hd_f16x4, (hd_u32x2{b[0], b[1]}));
  hd_put(c, __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, HD_F32X4(c), 0, 0, 0));
}
HD_FN void mma_bf16(vf32 (&c)[4], const vu32 (&a)[2], const vu32 (&b)[2]) {
#if defined(__gfx908__)
  HD_UNROLL for (i32 i = 0; i < 2; ++i)
    hd_put(c, __builtin_amdgcn_mfma_f32_16x16x8bf16(__builtin_bit_cast(hd_i16x2, a[i]), __builtin_bit_cast(hd_i16x2, b[i]), HD_F32X4(c), 0, 0, 0));
#else
  const hd_i16x4 x = __builtin_bit_cast(hd_i16x4, (hd_u32x2{a[0], a[1]})), y = __builtin_bit_cast(hd_i16x4, (hd_u32x2{b[0], b[1]}));
  hd_put(c, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, HD_F32X4(c), 0, 0, 0));
#endif
}
HD_FN void mma_f32(vf32 (&c)[4], const vu32 (&a)[4], const vu32 (&b)[4]) {
  HD_UNROLL for (i32 i = 0; i < 4; ++i)
    hd_put(c, __builtin_amdgcn_mfma_f32_16x16x4f32(__builtin_bit_cast(f32, a[i]), __builtin_bit_cast(f32, b[i]), HD_F32X4(c), 0, 0, 0));
}
)";

}  // namespace

const char* hip_prelude() { return kText; }

}  // namespace heddle::codegen::clike
