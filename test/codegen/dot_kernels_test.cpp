// Kernels that multiply bfloat16 by dot products: they round weights as operands, and are held to what that allows.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/codegen/emitted_kernel.h"
#include "test/codegen/half_data.h"

namespace heddle::test {
namespace {

constexpr Target kDots{CpuLevel::Avx512, true};

class DotKernels : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!kDots.runs_here(&why)) GTEST_SKIP() << why;
  }
};

KernelSpec with_dots(KernelSpec spec, int64_t vectors) {
  spec.target = kDots, spec.dtype = DType::BFloat16, spec.tile_rows = vectors * kDots.lanes();
  return spec;
}

Launch launch_of(const KernelSpec& spec, int64_t sq, int64_t sk, uint64_t seed = 1) {
  Launch launch;
  launch.batch = 2, launch.heads = 4, launch.kv_heads = 2, launch.sq = sq, launch.sk = sk, launch.seed = seed;
  launch.layout = kLayouts[seed % std::size(kLayouts)], launch.rim = seed % 2 ? Rim::End : Rim::Begin;
  launch.head_dim = spec.head_dim, launch.value_dim = spec.value_dim;
  return launch;
}

/// O and LSE of `data` against the judge: weights and O are rounded to 8 bits, scores are float32.
void expect_judged(const KernelSpec& spec, LaunchData& twin, const HalfData& half) {
  const reference::AttentionResult expected = reference::judge(problem_of(spec), half.args);
  float largest = 0;
  for (float v : twin.v.array()) largest = std::max(largest, std::isfinite(v) ? std::abs(v) : 0.0f);
  int64_t wrong = 0;
  size_t index = 0;
  twin.each_row([&](int64_t b, int64_t h, int64_t q) {
    for (int64_t d = 0; d < spec.value_dim; ++d) {
      const double e = expected.o[index * static_cast<size_t>(spec.value_dim) + static_cast<size_t>(d)], found = half.value(half.stored(b, h, q, d));
      if (!close(e, found, 0x1p-8 * largest) && wrong++ == 0) ADD_FAILURE() << fmt::format("O[{}, {}, {}, {}]: expected {}, found {}", b, h, q, d, e, found);
    }
    const double lse = expected.lse[index];
    EXPECT_TRUE(close(lse, twin.lse[index], 4 * accuracy_bar(spec.head_dim) * std::max(1.0, std::abs(lse)))) << "LSE " << index;
    ++index;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(half.gaps_untouched());
}

TEST_F(DotKernels, AreRight) {
  const KernelSpec specs[] = {{.mask = "", .head_dim = 64, .value_dim = 64},
                              {.mask = "k <= q", .head_dim = 41, .value_dim = 33},
                              {.mask = "abs(q - k) <= 20", .score = "softcap(s, 2.5) + 0.125 * (q - k)", .head_dim = 24, .value_dim = 7},
                              {.mask = "(q - k) % 3 == 0 && abs(q - k) <= 40", .head_dim = 1, .value_dim = 80},
                              {.mask = "q * k % 7 == 0 && k != 3", .head_dim = 3, .value_dim = 1},
                              {.mask = "k <= q && (q - k < 29 || k < 4)", .head_dim = 128, .value_dim = 100}};
  uint64_t seed = 0;
  for (const KernelSpec& like : specs) {
    for (int64_t vectors : {1, 4}) {
      const KernelSpec spec = with_dots(like, vectors);
      const EmittedKernel kernel(spec);
      for (const auto& [sq, sk] : {std::pair<int64_t, int64_t>{70, 83}, {100, 100}, {1, 40}, {5, 0}, {20, 1}, {17, 193}}) {
        SCOPED_TRACE(fmt::format("mask '{}' dims {}, {} rows {} lengths {}, {}", spec.mask, spec.head_dim, spec.value_dim, *spec.tile_rows, sq, sk));
        LaunchData twin(launch_of(spec, sq, sk, ++seed));
        HalfData half(twin, DType::BFloat16);
        kernel.run(half.args);
        expect_judged(spec, twin, half);
      }
    }
  }
}

TEST_F(DotKernels, MaskedGarbageIsNeverMultiplied) {
  const KernelSpec spec = with_dots({.mask = "k <= q && k % 5 != 2", .head_dim = 16, .value_dim = 20}, 1);
  const EmittedKernel kernel(spec);
  std::vector<std::vector<uint16_t>> results;
  for (const float garbage : {0.0f, std::nanf(""), std::numeric_limits<float>::infinity()}) {
    LaunchData twin(launch_of(spec, 40, 60, 2));
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t h = 0; h < 2; ++h) {
        for (int64_t k = 0; k < 60; ++k) {
          if (k < 40 && k % 5 != 2) continue;
          std::fill_n(twin.k.row(b, h, k), 16, garbage), std::fill_n(twin.v.row(b, h, k), 20, garbage);
        }
      }
    }
    HalfData half(twin, DType::BFloat16);
    kernel.run(half.args);
    std::vector<uint16_t>& bits = results.emplace_back();
    twin.each_row([&](int64_t b, int64_t h, int64_t q) {
      for (int64_t d = 0; d < 20; ++d) bits.push_back(half.stored(b, h, q, d));
    });
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST_F(DotKernels, CarryNanAndInfinity) {
  const KernelSpec spec = with_dots({.head_dim = 6, .value_dim = 3}, 1);
  LaunchData twin(launch_of(spec, 3, 3));
  for (int64_t b = 0; b < 2; ++b) twin.v.row(b, 0, 1)[0] = std::numeric_limits<float>::infinity(), twin.v.row(b, 1, 2)[1] = std::nanf("");
  HalfData half(twin, DType::BFloat16);
  EmittedKernel(spec).run(half.args);
  expect_judged(spec, twin, half);
}

TEST_F(DotKernels, UseTheInstructionAndKeepToRegisters) {
  const KernelSpec spec = with_dots({.head_dim = 64, .value_dim = 64}, 4);
  const std::string text = jit::assembly(codegen::emit_kernel(schedule_of(problem_of(spec)), "kernel"));
  size_t dots = 0;
  for (size_t at = text.find("vdpbf16ps"); at != std::string::npos; at = text.find("vdpbf16ps", at + 1)) ++dots;
  EXPECT_GE(dots, 2u * 24u) << "one register tile of 6 x 4 for each product";
  KernelSpec other = spec;
  other.dtype = DType::Float16;
  EXPECT_EQ(jit::assembly(codegen::emit_kernel(schedule_of(problem_of(other)), "kernel")).find("vdpbf16ps"), std::string::npos);
}

}  // namespace
}  // namespace heddle::test
