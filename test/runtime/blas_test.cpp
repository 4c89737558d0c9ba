#include "runtime/blas.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

#include "heddle/error.h"

namespace heddle::runtime {
namespace {

/// C = alpha op(A) op(B) + beta C by definition, in double.
template <typename T>
std::vector<double> by_definition(const Gemm<T>& p, const std::vector<T>& before) {
  std::vector<double> c(before.begin(), before.end());
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t x = 0; x < p.k; ++x) {
        const double a = p.transpose_a ? p.a[x * p.lda + i] : p.a[i * p.lda + x];
        sum += a * static_cast<double>(p.transpose_b ? p.b[j * p.ldb + x] : p.b[x * p.ldb + j]);
      }
      c[i * p.ldc + j] = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * before[i * p.ldc + j]);
    }
  }
  return c;
}

template <typename T>
std::vector<T> random(int64_t size, int seed) {
  std::mt19937 generator(seed);
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(static_cast<int>(generator() % 17) - 8) / 8;
  return values;
}

struct Case {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  double alpha, beta;
};

template <typename T>
void check(const Case& c, double tolerance) {
  const std::vector<T> a = random<T>(c.m * c.k + 7, 1), b = random<T>(c.k * c.n + 7, 2), before = random<T>(c.m * (c.n + 3), 3);
  std::vector<T> out = before;
  Gemm<T> p{.m = c.m, .n = c.n, .k = c.k, .a = a.data(), .b = b.data(), .c = out.data()};
  p.transpose_a = c.transpose_a, p.transpose_b = c.transpose_b;
  p.lda = std::max<int64_t>(1, c.transpose_a ? c.m : c.k), p.ldb = std::max<int64_t>(1, c.transpose_b ? c.k : c.n), p.ldc = c.n + 3;
  p.alpha = static_cast<T>(c.alpha), p.beta = static_cast<T>(c.beta);
  const std::vector<double> expected = by_definition(p, before);
  ThreadPool pool(2);
  Blas::open().gemm(p, pool);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], tolerance * (1 + static_cast<double>(c.k))) << i;
}

TEST(Blas, ProductsAreRightForEveryTransposeSizeAndBlockEdge) {
  const std::vector<Case> cases = {{1, 1, 1, false, false, 1, 0},      {5, 7, 3, true, false, 2, 1},       {5, 7, 3, false, true, 1, 0.5},
                                   {5, 7, 3, true, true, -1, 0},       {0, 4, 3, false, false, 1, 0},      {4, 0, 3, false, false, 1, 0},
                                   {4, 5, 0, false, false, 1, 0.5},    {4, 5, 0, false, false, 1, 0},      {300, 1600, 9, false, false, 1, 0},
                                   {513, 17, 40, true, false, 1, 1},   {257, 1537, 5, true, true, 1, 0}};
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.m << "x" << c.n << "x" << c.k);
    check<float>(c, 1e-6);
    check<double>(c, 1e-15);
  }
}

TEST(Blas, BetaZeroOverwritesNotANumber) {
  const float one = 1;
  float out = NAN;
  Blas::open().gemm({.m = 1, .n = 1, .k = 1, .a = &one, .b = &one, .c = &out, .lda = 1, .ldb = 1, .ldc = 1});
  EXPECT_EQ(out, 1);
}

TEST(Blas, ResultsDoNotDependOnTheNumberOfThreads) {
  const int64_t m = 700, n = 1700, k = 60;
  const std::vector<float> a = random<float>(m * k, 4), b = random<float>(k * n, 5);
  std::vector<float> first;
  for (int threads : {1, 2, 5}) {
    std::vector<float> out(m * n);
    ThreadPool pool(threads);
    Blas::open().gemm({.m = m, .n = n, .k = k, .a = a.data(), .b = b.data(), .c = out.data(), .lda = k, .ldb = n, .ldc = n}, pool);
    if (first.empty()) first = out;
    EXPECT_EQ(out, first) << threads;
  }
}

TEST(Blas, SaysWhatItIs) {
  EXPECT_NE(Blas::open().info().version.find("OpenBLAS"), std::string::npos);
  EXPECT_FALSE(Blas::open().info().core.empty());
  EXPECT_EQ(Blas::open().info().path, "libopenblas.so.0");
}

TEST(Blas, LeavesTheEnvironmentAsItWas) {
  const char* before = std::getenv("OPENBLAS_CORETYPE");
  const std::string value = before ? before : "";
  Blas("libopenblas.so.0");
  const char* after = std::getenv("OPENBLAS_CORETYPE");
  EXPECT_EQ(after ? after : "", value);
}

TEST(Blas, AMissingLibraryNamesThePackage) {
  try {
    Blas("libnothing.so.7");
    FAIL() << "opened";
  } catch (const ToolchainError& error) {
    EXPECT_EQ(std::string(error.what()),
              "OpenBLAS cannot be opened; install it: apt install libopenblas0\n"
              "libnothing.so.7: cannot open shared object file: No such file or directory");
  }
}

TEST(Blas, ALibraryWithoutTheFunctionsIsRefused) {
  try {
    Blas("libm.so.6");
    FAIL() << "opened";
  } catch (const ToolchainError& error) {
    EXPECT_EQ(std::string(error.what()), "libm.so.6 has no function cblas_sgemm; install it: apt install libopenblas0");
  }
}

TEST(Blas, SizesBeyondTheLibraryAreRefused) {
  const float one = 1;
  float out = 0;
  try {
    Blas::open().gemm({.m = 1, .n = 1, .k = int64_t{1} << 31, .a = &one, .b = &one, .c = &out, .lda = 1, .ldb = 1, .ldc = 1});
    FAIL() << "called";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "a matrix product has a size or stride of 2147483648; OpenBLAS takes at most 2147483647");
  }
}

}  // namespace
}  // namespace heddle::runtime
