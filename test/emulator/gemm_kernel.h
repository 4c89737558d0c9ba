// A tensor core product D = A B^T with all that attention kernels use: cp.async in two stages, swizzled ldmatrix, mma,
// predicated edges.
#pragma once
#include <string>

namespace heddle::emulator {

/// f16 A[M][K], B[N][K] row-major, float D[M][N]; K a multiple of 32. 64 x 64 of D a block of 4 warps; 16 KiB of dynamic shared
/// memory.
inline const std::string kGemm = R"(
typedef unsigned short u16; typedef unsigned u32;
extern __shared__ __align__(1024) unsigned char smem[];
__device__ __forceinline__ u32 at(int stage, int operand, int row, int chunk) {
  int swizzled = chunk ^ ((row >> 1) & 3);
  return (u32)__cvta_generic_to_shared(smem) + stage * 8192 + operand * 4096 + row * 64 + (swizzled << 4);
}
__device__ __forceinline__ void copy(u32 to, const u16* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(valid ? 16 : 0) : "memory");
}
__device__ __forceinline__ void load(u32 (&r)[4], u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}
__device__ __forceinline__ void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void stage_tiles(int stage, const u16* a, const u16* b, int row0, int column0, int k, int M, int N, int K) {
  for (int i = threadIdx.x; i < 256; i += 128) {
    int row = i >> 2, chunk = i & 3;
    copy(at(stage, 0, row, chunk), a + (row0 + row) * K + k + chunk * 8, row0 + row < M);
    copy(at(stage, 1, row, chunk), b + (column0 + row) * K + k + chunk * 8, column0 + row < N);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}
extern "C" __global__ void __launch_bounds__(128) gemm(const u16* a, const u16* b, float* d, int M, int N, int K) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  float c[8][4] = {};
  stage_tiles(0, a, b, row0, column0, 0, M, N, K);
  for (int k = 0, stage = 0; k < K; k += 32, stage ^= 1) {
    if (k + 32 < K) {
      stage_tiles(stage ^ 1, a, b, row0, column0, k + 32, M, N, K);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();  // arrived
    for (int half = 0; half < 2; ++half) {
      u32 left[4];
      load(left, at(stage, 0, warp * 16 + (lane & 15), half * 2 + (lane >> 4)));
      for (int n = 0; n < 4; ++n) {
        u32 right[4];
        load(right, at(stage, 1, n * 16 + (lane & 7) + (lane >> 4) * 8, half * 2 + (lane >> 3 & 1)));
        multiply(c[2 * n], left, right[0], right[1]);
        multiply(c[2 * n + 1], left, right[2], right[3]);
      }
    }
    __syncthreads();  // read
  }
  for (int n = 0; n < 8; ++n)
    for (int i = 0; i < 4; ++i) {
      int row = row0 + warp * 16 + (lane >> 2) + (i >> 1) * 8, column = column0 + n * 8 + (lane & 3) * 2 + (i & 1);
      if (row < M && column < N) d[row * N + column] = c[n][i];
    }
}
)";

}  // namespace heddle::emulator
