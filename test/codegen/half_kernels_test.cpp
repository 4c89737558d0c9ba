// Kernels on bfloat16 and float16: what they widen and compute in float32 is what float32 kernels compute on the same values, rounded.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "src/codegen/reference/interpreter.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/half_data.h"

namespace heddle::test {
namespace {

constexpr DType kHalves[] = {DType::BFloat16, DType::Float16};

KernelSpec with(KernelSpec spec, const Target& target, DType dtype, int64_t vectors) {
  spec.target = target, spec.dtype = dtype, spec.tile_rows = vectors * target.lanes();
  return spec;
}

bool same_bits(const HalfData& data, uint16_t a, uint16_t b) { return a == b || (std::isnan(data.value(a)) && std::isnan(data.value(b))); }

/// Kernels by what they are specialised for, each compiled once.
const EmittedKernel& kernel_of(const KernelSpec& spec) {
  static std::map<std::string, EmittedKernel> kernels;
  const ir::AttentionProblem problem = problem_of(spec);
  const std::string key = ir::canonical_text(problem);
  const auto known = kernels.find(key);
  return known != kernels.end() ? known->second : kernels.emplace(key, problem).first->second;
}

/// Runs the kernel of `spec` on 16 bits and on the float32 twin; O must be the twin's, rounded, and LSE the same.
void expect_twins(const KernelSpec& spec, LaunchData& twin, DType dtype) {
  HalfData half(twin, dtype);
  KernelSpec wide = spec;
  wide.dtype = DType::Float32;
  kernel_of(wide).run(twin.args);
  const std::vector<float> expected_lse(twin.lse.begin(), twin.lse.end());
  std::fill(twin.lse.begin(), twin.lse.end(), LaunchData::kUntouched);
  kernel_of(spec).run(half.args);
  int64_t wrong = 0;
  twin.each_row([&](int64_t b, int64_t h, int64_t q) {
    for (int64_t d = 0; d < spec.value_dim; ++d) {
      const uint16_t expected = half.rounded(twin.o.row(b, h, q)[d]), found = half.stored(b, h, q, d);
      if (!same_bits(half, expected, found) && wrong++ == 0) {
        ADD_FAILURE() << fmt::format("O[{}, {}, {}, {}]: expected {}, found {}", b, h, q, d, half.value(expected), half.value(found));
      }
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(half.gaps_untouched());
  for (size_t i = 0; i < expected_lse.size(); ++i) EXPECT_TRUE(close(expected_lse[i], twin.lse[i], 0)) << "LSE " << i;
}

void each_kernel(const KernelSpec& like, int64_t vectors, const std::function<void(const KernelSpec&, DType)>& visit) {
  for (const Target& target : runnable_targets()) {
    for (const DType dtype : kHalves) {
      const KernelSpec spec = with(like, target, dtype, vectors);
      SCOPED_TRACE(fmt::format("mask '{}' score '{}' dims {}, {} {} {} rows {}", spec.mask, spec.score, spec.head_dim, spec.value_dim,
                               target.to_string(), to_string(dtype), *spec.tile_rows));
      visit(spec, dtype);
    }
  }
}

Launch launch_of(const KernelSpec& spec, int64_t sq, int64_t sk, Layout layout = Layout::PaddedRows) {
  Launch launch;
  launch.batch = 2, launch.heads = 4, launch.kv_heads = 2, launch.sq = sq, launch.sk = sk, launch.layout = layout;
  launch.head_dim = spec.head_dim, launch.value_dim = spec.value_dim;
  return launch;
}

TEST(HalfKernels, RoundWhatTheirTwinsCompute) {
  const KernelSpec specs[] = {{.mask = "", .head_dim = 16, .value_dim = 16},
                              {.mask = "k <= q", .head_dim = 41, .value_dim = 33},
                              {.mask = "abs(q - k) <= 20", .head_dim = 64, .value_dim = 7},
                              {.mask = "(q - k) % 3 == 0 && abs(q - k) <= 40", .head_dim = 1, .value_dim = 80},
                              {.mask = "q * k % 7 == 0", .head_dim = 3, .value_dim = 1}};
  int64_t seed = 0;
  for (const KernelSpec& like : specs) {
    each_kernel(like, 1 + seed % 3, [&](const KernelSpec& spec, DType dtype) {
      Launch launch = launch_of(spec, 70, 83, kLayouts[seed % std::ssize(kLayouts)]);
      launch.rim = seed % 2 ? Rim::End : Rim::Begin, launch.seed = static_cast<uint64_t>(++seed);
      LaunchData twin(launch);
      expect_twins(spec, twin, dtype);
    });
  }
}

TEST(HalfKernels, OfWideHeadsAndEveryLength) {
  for (int64_t dim : {5, 100, 256}) {
    each_kernel({.mask = "k <= q + 3", .head_dim = dim, .value_dim = dim}, 1, [&](const KernelSpec& spec, DType dtype) {
      LaunchData twin(launch_of(spec, 20, 17));
      expect_twins(spec, twin, dtype);
      if (dim != 5) return;
      for (const auto& [sq, sk] : {std::pair<int64_t, int64_t>{1, 40}, {5, 0}, {20, 1}, {17, 16}}) {
        LaunchData other(launch_of(spec, sq, sk));
        expect_twins(spec, other, dtype);
      }
    });
  }
}

TEST(HalfKernels, ScoresAreFloat32) {
  for (const char* score : {"softcap(s, 2.5) + 0.125 * (q - k)", "s - 0.25 * exp(-0.35 * (h + 1)) * abs(q - k)"}) {
    each_kernel({.mask = "k <= q", .score = score, .head_dim = 40, .value_dim = 24}, 1, [&](const KernelSpec& spec, DType dtype) {
      LaunchData twin(launch_of(spec, 50, 50));
      expect_twins(spec, twin, dtype);
    });
  }
}

/// Values of every kind: subnormal in the type, at its rims, infinite and NaN.
TEST(HalfKernels, CarryEveryKindOfValue) {
  each_kernel({.head_dim = 8, .value_dim = 12}, 1, [&](const KernelSpec& spec, DType dtype) {
    LaunchData twin(launch_of(spec, 1, 1));
    const float rims[] = {0.0f,     2.0f,  0x1p-24f, -0x1.8p-23f, 0x1.ff8p-15f, 0x1p-133f,
                          65504.0f, -3e38f, 1.0f,    std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")};
    twin.each_row([&](int64_t b, int64_t h, int64_t) { std::copy(std::begin(rims), std::end(rims), twin.v.row(b, h / 2, 0)); });
    expect_twins(spec, twin, dtype);
    HalfData half(twin, dtype);
    kernel_of(spec).run(half.args);
    for (int64_t d = 0; d < 12; ++d) {  // one key: O is its row of V
      EXPECT_TRUE(same_bits(half, half.stored(0, 0, 0, d), half.rounded(rims[d]))) << rims[d];
    }
  });
}

TEST(HalfKernels, MaskedGarbageStaysOutside) {
  each_kernel({.mask = "k <= q && k % 5 != 2", .head_dim = 16, .value_dim = 20}, 1, [&](const KernelSpec& spec, DType dtype) {
    LaunchData twin(launch_of(spec, 40, 60));
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t h = 0; h < 2; ++h) {
        for (int64_t k = 0; k < 60; ++k) {
          if (k < 40 && k % 5 != 2) continue;
          std::fill_n(twin.k.row(b, h, k), 16, std::nanf("")), std::fill_n(twin.v.row(b, h, k), 20, std::nanf(""));
        }
      }
    }
    expect_twins(spec, twin, dtype);
    EXPECT_TRUE(std::isfinite(twin.o.row(1, 3, 39)[19]));
  });
}

TEST(HalfKernels, AreJudgedOnWhatTheyRead) {
  for (const DType dtype : kHalves) {
    KernelSpec spec = with({.mask = "k <= q", .head_dim = 24, .value_dim = 10}, Target::host(), dtype, 1);
    LaunchData twin(launch_of(spec, 30, 35));
    HalfData half(twin, dtype);
    const ir::AttentionProblem problem = problem_of(spec);
    ir::AttentionProblem wide = problem;
    wide.dtype = DType::Float32;
    const reference::AttentionResult expected = reference::judge(wide, twin.args), found = reference::judge(problem, half.args);
    EXPECT_EQ(expected.o, found.o);
    EXPECT_EQ(expected.lse, found.lse);
    const ir::TileProgram program = lower::run_pipeline(problem).state.tile;
    EXPECT_EQ(program.dtype, dtype);
    const reference::AttentionResult interpreted = reference::interpret(program, half.args);
    for (size_t i = 0; i < expected.o.size(); ++i) EXPECT_NEAR(interpreted.o[i], expected.o[i], 1e-12);
  }
}

}  // namespace
}  // namespace heddle::test
