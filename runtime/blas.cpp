#include "runtime/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "heddle/error.h"
#include "heddle/target.h"

namespace heddle::runtime {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
constexpr const char* kInstall = "install it: apt install libopenblas0";

template <typename Function>
Function symbol(void* library, const char* name, const std::string& path) {
  void* found = dlsym(library, name);
  if (!found) throw ToolchainError(path + " has no function " + name + "; " + kInstall);
  return reinterpret_cast<Function>(found);
}

std::string environment() {
  std::string text;
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}) {
    const char* value = std::getenv(name);
    if (value) text += (text.empty() ? "" : " ") + std::string(name) + "=" + value;
  }
  return text;
}

/// Names the core type for OpenBLAS while it is being opened, unless the user did. SkylakeX and Haswell have the best float
/// products of all core types with AVX-512 and with AVX2.
class CoreTypeChoice {
 public:
  CoreTypeChoice() {
    const char* best = Target{CpuLevel::Avx512}.runs_here() ? "SkylakeX"
                       : Target{CpuLevel::Avx2}.runs_here() ? "Haswell"
                                                            : nullptr;
    set_ = best && !std::getenv(kVariable) && setenv(kVariable, best, 1) == 0;
  }
  ~CoreTypeChoice() {
    if (set_) unsetenv(kVariable);
  }

 private:
  static constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  bool set_ = false;
};

int narrow(int64_t size) {
  if (size > std::numeric_limits<int>::max()) {
    throw UserError("a matrix product has a size or stride of " + std::to_string(size) + "; OpenBLAS takes at most 2147483647",
                    "make the tensor smaller");
  }
  return static_cast<int>(size);
}

/// The part of a product that block `index` computes.
template <typename T>
Gemm<T> block_of(Gemm<T> product, const GemmBlocks& blocks, int64_t index) {
  const int64_t row = index / blocks.column_blocks() * GemmBlocks::kRows,
                column = index % blocks.column_blocks() * GemmBlocks::kColumns;
  product.a += row * (product.transpose_a ? 1 : product.lda);
  product.b += column * (product.transpose_b ? product.ldb : 1);
  product.c += row * product.ldc + column;
  product.m = std::min(GemmBlocks::kRows, product.m - row);
  product.n = std::min(GemmBlocks::kColumns, product.n - column);
  return product;
}

template <typename T>
void scale(const Gemm<T>& product) {
  for (int64_t i = 0; i < product.m; ++i) {
    for (int64_t j = 0; j < product.n; ++j) {
      T& c = product.c[i * product.ldc + j];
      c = product.beta == 0 ? T(0) : product.beta * c;
    }
  }
}

}  // namespace

const Blas& Blas::open() {
  static const Blas blas("libopenblas.so.0");
  return blas;
}

Blas::Blas(const std::string& path) {
  info_.environment = environment();
  info_.path = path;
  const CoreTypeChoice choice;
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) throw ToolchainError("OpenBLAS cannot be opened; " + std::string(kInstall), dlerror());
  sgemm_ = symbol<Function<float>>(library_, "cblas_sgemm", path);
  dgemm_ = symbol<Function<double>>(library_, "cblas_dgemm", path);
  symbol<void (*)(int)>(library_, "openblas_set_num_threads", path)(1);
  info_.core = symbol<const char* (*)()>(library_, "openblas_get_corename", path)();
  info_.version = symbol<const char* (*)()>(library_, "openblas_get_config", path)();
}

template <typename T>
void Blas::call(Function<T> function, const Gemm<T>& product) const {
  if (product.m == 0 || product.n == 0) return;
  if (product.k == 0) return scale(product);
  function(kRowMajor, product.transpose_a ? kTranspose : kNoTranspose, product.transpose_b ? kTranspose : kNoTranspose,
           narrow(product.m), narrow(product.n), narrow(product.k), product.alpha, product.a, narrow(product.lda), product.b,
           narrow(product.ldb), product.beta, product.c, narrow(product.ldc));
}

template <typename T>
void Blas::share(const Gemm<T>& product, ThreadPool& pool) const {
  const GemmBlocks blocks{product.m, product.n};
  pool.run([&](int thread) {
    for (int64_t index = thread; index < blocks.count(); index += pool.threads()) gemm(block_of(product, blocks, index));
  });
}

void Blas::gemm(const Gemm<float>& product) const { call(sgemm_, product); }
void Blas::gemm(const Gemm<double>& product) const { call(dgemm_, product); }
void Blas::gemm(const Gemm<float>& product, ThreadPool& pool) const { share(product, pool); }
void Blas::gemm(const Gemm<double>& product, ThreadPool& pool) const { share(product, pool); }

}  // namespace heddle::runtime
