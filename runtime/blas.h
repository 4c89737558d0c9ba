// Plain dense matrix products through OpenBLAS, which is opened at run time: a machine without it builds and runs everything
// else.
//
// OpenBLAS runs single-threaded; our pool shares out blocks of rows and columns whose sizes follow the shape alone, so results
// do not depend on the number of threads. OpenBLAS reads OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE when it is opened: they are
// left as the user set them and reported. Its number of threads is a setting of the whole process and is set to 1 when it is
// opened.
#pragma once
#include <cstdint>
#include <string>

#include "runtime/thread_pool.h"

namespace heddle::runtime {

/// Row-major operands: C[m, n] = alpha * op(A)[m, k] * op(B)[k, n] + beta * C. ld* are row strides in elements.
template <typename T>
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  const T* b = nullptr;
  T* c = nullptr;
  int64_t lda = 0, ldb = 0, ldc = 0;
  bool transpose_a = false, transpose_b = false;
  T alpha = 1, beta = 0;
};

/// What the library says of itself, and which of its environment variables are set.
struct BlasInfo {
  std::string path, version, core;  ///< "libopenblas.so.0", "OpenBLAS 0.3.21 ...", "SkylakeX"
  std::string environment;          ///< "OPENBLAS_CORETYPE=Haswell ..." or empty.
};

/// Work of one product: blocks of at most kRows x kColumns of C.
struct GemmBlocks {
  static constexpr int64_t kRows = 256, kColumns = 1536;
  int64_t m, n;
  int64_t row_blocks() const { return m / kRows + (m % kRows != 0); }
  int64_t column_blocks() const { return n / kColumns + (n % kColumns != 0); }
  int64_t count() const { return row_blocks() * column_blocks(); }
};

/// The opened library. Cheap to copy.
class Blas {
 public:
  /// Opens libopenblas.so.0 once a process. Thread safe. Throws ToolchainError that names the Debian package when it is missing
  /// or lacks a function.
  static const Blas& open();
  /// Opens another file; for tests.
  explicit Blas(const std::string& path);

  const BlasInfo& info() const { return info_; }
  /// On the calling thread. Sizes of 0 are legal; sizes and strides past 2^31 - 1 throw UserError.
  void gemm(const Gemm<float>& product) const;
  void gemm(const Gemm<double>& product) const;
  /// The same on a pool, block by block.
  void gemm(const Gemm<float>& product, ThreadPool& pool) const;
  void gemm(const Gemm<double>& product, ThreadPool& pool) const;

 private:
  template <typename T>
  using Function = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  template <typename T>
  void call(Function<T> function, const Gemm<T>& product) const;
  template <typename T>
  void share(const Gemm<T>& product, ThreadPool& pool) const;

  void* library_ = nullptr;  ///< Never closed: OpenBLAS keeps state of its own.
  Function<float> sgemm_ = nullptr;
  Function<double> dgemm_ = nullptr;
  BlasInfo info_;
};

}  // namespace heddle::runtime
