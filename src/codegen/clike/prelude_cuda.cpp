#include "src/codegen/clike/prelude.h"

namespace heddle::codegen::clike {

namespace {

constexpr const char* kText = R"(// Prelude of Heddle's kernels, CUDA, sm_80 and later. PTX ISA names the instructions and the layouts of fragments.
typedef int i32; typedef unsigned u32; typedef long long i64; typedef unsigned long long u64;
typedef unsigned short u16; typedef unsigned char u8; typedef float f32;
typedef i32 vi32; typedef u32 vu32; typedef i64 vi64; typedef f32 vf32; typedef bool vbool;  // may differ between lanes
#define HD_FN [[maybe_unused]] static __device__ __forceinline__
#define HD_MEMBER __device__ __forceinline__
#define HD_UNROLL _Pragma("unroll")
#define HD_UNROLL_2 _Pragma("unroll 2")
#define HD_LOOP _Pragma("unroll 1")
#define HD_KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads) name
#define HD_ARGUMENTS const __grid_constant__
#define HD_INF __int_as_float(0x7f800000)
#define HD_LOWEST __int_as_float(0xff7fffff)

extern __shared__ __align__(1024) unsigned char hd_shared[];
HD_FN i32 shared_base() { return (i32)__cvta_generic_to_shared(hd_shared); }
HD_FN vi32 thread_id() { return threadIdx.x; }
HD_FN i32 warp_id() { return __shfl_sync(~0u, threadIdx.x >> 5, 0); }
HD_FN i32 block_x() { return blockIdx.x; }
HD_FN i32 block_y() { return blockIdx.y; }
HD_FN i32 block_z() { return blockIdx.z; }
HD_FN void block_sync() { __syncthreads(); }
HD_FN void warp_sync() { __syncwarp(); }
HD_FN vf32 shfl_xor(vf32 x, i32 mask) { return __shfl_xor_sync(~0u, x, mask); }
HD_FN vu32 shfl_xor(vu32 x, i32 mask) { return __shfl_xor_sync(~0u, x, mask); }
HD_FN vf32 shfl_idx(vf32 x, vi32 lane) { return __shfl_sync(~0u, x, lane); }
HD_FN vu32 shfl_idx(vu32 x, vi32 lane) { return __shfl_sync(~0u, x, lane); }

HD_FN vf32 exp2_approx(vf32 x) { f32 y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
HD_FN vf32 log2_approx(vf32 x) { f32 y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
HD_FN vf32 square_root(vf32 x) { f32 y; asm("sqrt.rn.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
HD_FN vf32 fused_multiply_add(vf32 a, vf32 b, vf32 c) { f32 y; asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(a), "f"(b), "f"(c)); return y; }
HD_FN vf32 vmax(vf32 a, vf32 b) { f32 y; asm("max.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y; }  // never the NaN
HD_FN vu32 pack_f16(vf32 low, vf32 high) { u32 y; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low)); return y; }
HD_FN vu32 pack_bf16(vf32 low, vf32 high) { u32 y; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low)); return y; }
//---- arithmetic ----

// Global memory. Indices count elements from a uniform base.
HD_FN vi32 ld_global_i32(const i32* base, vi64 index) { return base[index]; }
HD_FN vi64 ld_global_i64(const i64* base, vi64 index) { return base[index]; }
HD_FN vi32 ld_global_u8(const u8* base, vi64 index) { return base[index]; }
HD_FN vf32 ld_global_f32(const f32* base, vi64 index) { return base[index]; }
HD_FN i32 ld_uniform_i32(const i32* base, i64 index) { return base[index]; }
HD_FN i64 ld_uniform_i64(const i64* base, i64 index) { return base[index]; }
HD_FN void st_global_f32(f32* base, vi64 index, vf32 x, vbool where) { if (where) base[index] = x; }
template <class T> HD_FN void st_global_16(T* base, vi64 index, const vu32 (&x)[4], vbool where) {
  if (where) asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" :: "l"(base + index), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]) : "memory");
}

// Shared memory. Addresses count bytes.
HD_FN void st_shared_4(vi32 address, vu32 x) { asm volatile("st.shared.b32 [%0], %1;" :: "r"(address), "r"(x) : "memory"); }
HD_FN void ld_shared_16(vu32 (&x)[4], vi32 address) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(address) : "memory");
}
HD_FN vf32 ld_shared_f32(vi32 address) { f32 x; asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(address) : "memory"); return x; }
HD_FN void ld_shared_f32x4(vf32 (&x)[4], vi32 address) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]) : "r"(address) : "memory");
}
// 16 bytes from global to shared memory, in the background; zeros where `where` is false.
template <class T> HD_FN void cp_async_16(vi32 address, const T* base, vi64 index, vbool where) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(address), "l"(base + index), "r"(where ? 16 : 0) : "memory");
}
HD_FN void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kInFlight> HD_FN void cp_async_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(kInFlight) : "memory"); }

// Tensor cores: four 8 x 8 matrices of 16-bit elements, and c[16 x 8] += a[16 x 16] b[16 x 8].
HD_FN void ldmatrix_x4(vu32 (&x)[4], vi32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(address) : "memory");
}
HD_FN void ldmatrix_x4_trans(vu32 (&x)[4], vi32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(address) : "memory");
}
HD_FN void mma_f16(vf32 (&c)[4], const vu32 (&a)[4], vu32 b0, vu32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
HD_FN void mma_bf16(vf32 (&c)[4], const vu32 (&a)[4], vu32 b0, vu32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
)";

}  // namespace

const char* cuda_prelude() { return kText; }

}  // namespace heddle::codegen::clike
