// Elementary functions of emitted code against libm in double precision, over all of float32.
#include "src/codegen/llvm/vector_math.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <random>

#include "test/codegen/emitted_kernel.h"
#include "test/codegen/function_harness.h"

namespace heddle::test {
namespace {

using codegen::VectorMath;

struct Function {
  const char* name;
  llvm::Value* (VectorMath::*emitted)(llvm::Value*);
  double (*exact)(double);
  double ulps;  ///< Largest error in units in the last place.
};

void PrintTo(const Function& function, std::ostream* out) { *out << function.name; }

constexpr double kSmallest = 0x1p-125;  ///< Results below may be zero.

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Function kFunctions[] = {
    {"exp2", &VectorMath::exp2, std::exp2, 0.9},    {"exp", &VectorMath::exp, std::exp, 2},
    {"log2", &VectorMath::log2, std::log2, 3},      {"log", &VectorMath::log, std::log, 3},
    {"tanh", &VectorMath::tanh, std::tanh, 3},      {"sigmoid", &VectorMath::sigmoid, sigmoid, 3},
    {"sqrt", &VectorMath::sqrt, std::sqrt, 0.5001},
};

/// Every 4099th float of all, denormals, infinities and NaN included, and many where the functions change their course.
std::vector<float> arguments() {
  std::vector<float> all;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099)
    all.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> range(-170, 170), near(0.3f, 3), small(-1, 1);
  for (int i = 0; i < 200'000; ++i) all.push_back(range(random)), all.push_back(near(random)), all.push_back(small(random));
  for (float center :
       {0.0f, 1.0f, 0.625f, -0.625f, 0.70710678f, -126.0f, -125.5f, -149.0f, 127.5f, 128.0f, 88.72284f, -87.33655f, -160.0f}) {
    const uint32_t bits = std::bit_cast<uint32_t>(center);
    for (uint32_t i = 0; i < 2000; ++i)
      all.push_back(std::bit_cast<float>(bits + i)), all.push_back(std::bit_cast<float>(bits - i));
  }
  for (float x : {0.0f, -0.0f, FLT_MIN, FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -FLT_TRUE_MIN, INFINITY, -INFINITY, NAN, -NAN})
    all.push_back(x);
  for (int n = -170; n <= 170; ++n) all.push_back(static_cast<float>(n)), all.push_back(static_cast<float>(n) + 0.5f);
  return all;
}

/// The error in units in the last place of the exact result; 0 where both are the same special value.
double ulps(double exact, float actual) {
  if (std::isnan(exact)) return std::isnan(actual) ? 0 : INFINITY;
  if (std::abs(exact) < kSmallest && std::abs(static_cast<double>(actual)) <= kSmallest) return 0;
  const double limit = FLT_MAX * (1 + 0x1p-25);
  if (std::abs(exact) >= limit) return std::isinf(actual) && std::signbit(actual) == std::signbit(exact) ? 0 : INFINITY;
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(static_cast<double>(actual) - exact) / std::ldexp(1.0, exponent - 23);
}

class VectorMathFunctions : public testing::TestWithParam<Function> {};

TEST_P(VectorMathFunctions, KeepTheirErrorBounds) {
  const Function& f = GetParam();
  const std::vector<float> x = arguments();
  for (const Target& target : runnable_targets()) {
    const ArrayFunction emitted(target, 0, [&](codegen::IrBuilder& b, llvm::Value* a, llvm::Value*) {
      VectorMath math(b);
      return (math.*f.emitted)(a);
    });
    const std::vector<float> y = emitted(x, x);
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = ulps(f.exact(static_cast<double>(x[i])), y[i]);
      if (error > worst) worst = error, where = i;
    }
    EXPECT_LE(worst, target.fuses() ? f.ulps : std::max(f.ulps, 1.1)) << fmt::format("{} {}({}) = {}, exactly {}", target.to_string(), f.name, x[where], y[where],
                                            f.exact(static_cast<double>(x[where])));
    EXPECT_GT(worst, 0.2) << "float32 cannot be this exact";
  }
}

INSTANTIATE_TEST_SUITE_P(All, VectorMathFunctions, testing::ValuesIn(kFunctions));

TEST(VectorMath, OfGreatNegativePowersIsExactlyZero) {
  for (const Target& target : runnable_targets()) {
    const ArrayFunction emitted(target, 0, [&](codegen::IrBuilder& b, llvm::Value* a, llvm::Value*) {
      return VectorMath(b).exp2(a);
    });
    for (float zero : emitted(std::vector<float>{-160, -161.7f, -1e4f, -FLT_MAX, -INFINITY}, std::vector<float>(5)))
      EXPECT_EQ(zero, 0.0f);
    const std::vector<float> powers = emitted(std::vector<float>{0, 1, -3, 100, -100}, std::vector<float>(5));
    EXPECT_EQ(powers, (std::vector<float>{1, 2, 0.125f, 0x1p100f, 0x1p-100f}));
  }
}

TEST(VectorMath, LesserAndGreaterAreNanWhenEitherIs) {
  const std::vector<float> values = {0, 1, -1, INFINITY, -INFINITY, NAN, FLT_MAX, 1e-40f};
  std::vector<float> a, b;
  for (float x : values) {
    for (float y : values) a.push_back(x), b.push_back(y);
  }
  for (const Target& target : runnable_targets()) {
    for (bool larger : {false, true}) {
      const ArrayFunction emitted(target, 0, [&](codegen::IrBuilder& builder, llvm::Value* x, llvm::Value* y) {
        VectorMath math(builder);
        return larger ? math.max(x, y) : math.min(x, y);
      });
      const std::vector<float> actual = emitted(a, b);
      for (size_t i = 0; i < a.size(); ++i) {
        const bool nan = std::isnan(a[i]) || std::isnan(b[i]);
        const float expected = nan ? NAN : larger ? std::max(a[i], b[i]) : std::min(a[i], b[i]);
        EXPECT_TRUE(nan ? std::isnan(actual[i]) : actual[i] == expected)
            << larger << " " << a[i] << " " << b[i] << " " << actual[i];
      }
    }
  }
}

}  // namespace
}  // namespace heddle::test
