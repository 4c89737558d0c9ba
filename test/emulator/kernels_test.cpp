// Small CUDA kernels through NVRTC and the emulator against the same arithmetic on the host: integers, floats, divergence,
// warps, memory.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "test/emulator/cuda_kernel.h"
#include "test/emulator/matrix_ops.h"

namespace heddle::emulator {
namespace {

constexpr int kThreads = 64;

/// y = f(x, thread) on 64 threads: the body sets `r` from `x` and the thread `t`.
template <typename Out, typename In>
std::vector<Out> run_each(const std::string& out, const std::string& in, const std::string& body, const std::vector<In>& x,
                          const char* target = "cuda:sm_80") {
  const Program program =
      program_of("extern \"C\" __global__ void each(const " + in + "* xs, " + out + "* ys) {\n  int t = threadIdx.x; " + in +
                     " x = xs[t]; " + out + " r;\n" + body + "\n  ys[t] = r;\n}\n",
                 target);
  std::vector<Out> y(kThreads);
  GlobalMemory memory;
  Launch launch;
  launch.block = {kThreads, 1, 1};
  launch.arguments.add(memory.add_input("x", x.data(), x.size() * sizeof(In)));
  launch.arguments.add(memory.add("y", y.data(), y.size() * sizeof(Out), BufferUse::Output, sizeof(Out)));
  const Outcome outcome = run(program, launch, memory);
  EXPECT_TRUE(outcome.findings.clean()) << body << "\n" << outcome.findings.to_string();
  return y;
}

std::vector<int> integers() {
  std::vector<int> x = {0,       1,          -1,        2,         -7,         31,          32, 33,
                        1 << 30, -(1 << 30), INT32_MAX, INT32_MIN, 0x12345678, -0x12345678, 97, -97};
  for (int i = static_cast<int>(x.size()); i < kThreads; ++i)
    x.push_back(static_cast<int>(static_cast<uint32_t>(i) * 2654435761u));
  return x;
}

std::vector<float> reals() {
  std::vector<float> x = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1.5f, 2.5f, -2.5f, 1e-3f, 3e4f, 100.25f, -100.75f};
  for (int i = static_cast<int>(x.size()); i < kThreads; ++i) x.push_back(static_cast<float>(i * 37 % 101) / 8 - 5);
  return x;
}

struct IntegerCase {
  const char* body;
  int64_t (*expected)(int64_t x, int t);
};

const IntegerCase kIntegerCases[] = {
    {"r = x * 7 + t;", [](int64_t x, int t) { return int64_t{static_cast<int>(x * 7 + t)}; }},
    {"r = x / 97 + x % 97;", [](int64_t x, int) { return x / 97 + x % 97; }},
    {"r = (t + 3) / (t % 5 + 1) + x / (t + 1) + x % (t + 1);",
     [](int64_t x, int t) { return (t + 3) / (t % 5 + 1) + x / (t + 1) + x % (t + 1); }},
    {"r = (x >> 3) ^ ((unsigned)x >> 5) ^ (x << 2);",
     [](int64_t x, int) { return int64_t{static_cast<int>((x >> 3) ^ (static_cast<uint32_t>(x) >> 5) ^ (x << 2))}; }},
    {"r = __popc(x) + 100 * __clz(x);",
     [](int64_t x, int) {
       return int64_t{std::popcount(static_cast<uint32_t>(x)) + 100 * std::countl_zero(static_cast<uint32_t>(x))};
     }},
    {"r = min(x, t) ^ max(x, -t) ^ abs(x >> 1);",
     [](int64_t x, int t) { return std::min<int64_t>(x, t) ^ std::max<int64_t>(x, -t) ^ std::abs(x >> 1); }},
    {"r = __mulhi(x, 123456789) + (int)__umulhi(x, 77);",
     [](int64_t x, int) {
       return int64_t{static_cast<int>((x * 123456789 >> 32) +
                                       static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(x)) * 77) >> 32))};
     }},
    {"r = (int)(((long long)x * 1000003LL) >> 7);", [](int64_t x, int) { return int64_t{static_cast<int>(x * 1000003 >> 7)}; }},
    {"r = (signed char)x + (unsigned char)x + (short)x;",
     [](int64_t x, int) { return int64_t{static_cast<int8_t>(x)} + static_cast<uint8_t>(x) + static_cast<int16_t>(x); }},
    {"r = (x > 5 && t < 40) || x == -7 ? t : -t;",
     [](int64_t x, int t) { return int64_t{(x > 5 && t < 40) || x == -7 ? t : -t}; }},
    {"r = (unsigned)x > 1000000u ? 1 : 2;",
     [](int64_t x, int) { return int64_t{static_cast<uint32_t>(x) > 1000000u ? 1 : 2}; }},
    {"r = __byte_perm(x, t, 0x2461);",
     [](int64_t x, int t) {
       const uint64_t both = static_cast<uint64_t>(static_cast<uint32_t>(t)) << 32 | static_cast<uint32_t>(x);
       uint32_t r = 0;
       for (int i = 0; i < 4; ++i) r |= static_cast<uint32_t>(both >> (8 * (0x2461 >> (4 * i) & 7)) & 0xff) << (8 * i);
       return int64_t{static_cast<int>(r)};
     }},
    {"r = __funnelshift_l(x, t, 9);",
     [](int64_t x, int t) {
       return int64_t{
           static_cast<int>((static_cast<uint64_t>(static_cast<uint32_t>(t)) << 32 | static_cast<uint32_t>(x)) << 9 >> 32)};
     }},
    {"r = __brev(x) ^ (x & 0xff00);",
     [](int64_t x, int) {
       uint32_t reversed = 0;
       for (int i = 0; i < 32; ++i) reversed |= (static_cast<uint32_t>(x) >> i & 1) << (31 - i);
       return int64_t{static_cast<int>(reversed ^ (static_cast<uint32_t>(x) & 0xff00))};
     }},
};

TEST(EmulatedKernels, Integers) {
  HEDDLE_NEEDS_NVRTC();
  const std::vector<int> x = integers();
  for (const IntegerCase& one : kIntegerCases) {
    const std::vector<int> y = run_each<int>("int", "int", one.body, x);
    for (int t = 0; t < kThreads; ++t) EXPECT_EQ(y[t], one.expected(x[t], t)) << one.body << " x " << x[t] << " t " << t;
  }
}

struct RealCase {
  const char* body;
  double (*expected)(double x, int t);
  double tolerance;  ///< Relative.
};

const RealCase kRealCases[] = {
    {"r = x * 3.0f + t - 0.25f;", [](double x, int t) { return x * 3 + t - 0.25; }, 1e-6},
    {"r = x / (t + 1.0f);", [](double x, int t) { return x / (t + 1); }, 1e-6},
    {"r = sqrtf(fabsf(x)) + rsqrtf(t + 1.0f);", [](double x, int t) { return std::sqrt(std::abs(x)) + 1 / std::sqrt(t + 1.0); },
     1e-5},
    {"r = exp2f(-fabsf(x) * 0.01f) * log2f(t + 2.0f);",
     [](double x, int t) { return std::exp2(-std::abs(x) * 0.01) * std::log2(t + 2.0); }, 1e-5},
    {"r = fmaxf(x, -2.0f) - fminf(x, 3.0f);", [](double x, int) { return std::max(x, -2.0) - std::min(x, 3.0); }, 1e-6},
    {"r = tanhf(x * 0.01f);", [](double x, int) { return std::tanh(x * 0.01); }, 1e-4},
    {"r = expf(x * 1e-4f);", [](double x, int) { return std::exp(x * 1e-4); }, 1e-5},
    {"r = __int2float_rn((int)x) + (float)(unsigned)t;", [](double x, int t) { return std::trunc(x) + t; }, 1e-6},
    {"r = rintf(x) + floorf(x) + ceilf(x) + truncf(x);",
     [](double x, int) { return std::nearbyint(x) + std::floor(x) + std::ceil(x) + std::trunc(x); }, 1e-6},
    {"r = (float)((double)x * 1.0000001 + t);", [](double x, int t) { return x * 1.0000001 + t; }, 1e-6},
    {"r = x != x ? 1.0f : x <= 0.5f ? 2.0f : 3.0f;", [](double x, int) { return x <= 0.5 ? 2.0 : 3.0; }, 0},
    {"asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x * 0.001f));", [](double x, int) { return std::exp2(x * 0.001); },
     1e-5},
};

TEST(EmulatedKernels, Reals) {
  HEDDLE_NEEDS_NVRTC();
  const std::vector<float> x = reals();
  for (const RealCase& one : kRealCases) {
    const std::vector<float> y = run_each<float>("float", "float", one.body, x);
    for (int t = 0; t < kThreads; ++t) {
      const double expected = one.expected(x[t], t);
      EXPECT_NEAR(y[t], expected, one.tolerance * (1 + std::abs(expected))) << one.body << " x " << x[t];
    }
  }
}

TEST(EmulatedKernels, MaximumDropsNanAndExponentialKeepsIt) {
  HEDDLE_NEEDS_NVRTC();
  const std::vector<float> x(kThreads, NAN);
  EXPECT_EQ(run_each<float>("float", "float", "r = fmaxf(x, 3.0f);", x)[0], 3.0f);
  EXPECT_TRUE(
      std::isnan(run_each<float>("float", "float", "asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x));", x)[5]));
  EXPECT_EQ(run_each<float>("float", "float", "r = x == x || x < 1.0f || x >= 1.0f ? 1.0f : 0.0f;", x)[7], 0.0f);
}

TEST(EmulatedKernels, PairsOfHalvesArePackedAndMultiplied) {
  HEDDLE_NEEDS_NVRTC();
  const std::vector<float> x = reals();
  const auto y = run_each<unsigned>("unsigned", "float",
                                    "asm(\"{ .reg .b32 p; cvt.rn.f16x2.f32 p, %1, %2; fma.rn.f16x2 %0, p, p, p; }\" : "
                                    "\"=r\"(r) : \"f\"(x), \"f\"(x * 0.5f));",
                                    x);
  const auto brain = run_each<unsigned>("unsigned", "float",
                                        "asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(r) : \"f\"(x), \"f\"(x * 0.5f));", x);
  for (int t = 0; t < kThreads; ++t) {
    const float high = half_to_float(float_to_half(x[t])), low = half_to_float(float_to_half(x[t] * 0.5f));
    EXPECT_EQ(y[t] >> 16, float_to_half(std::fma(high, high, high))) << x[t];
    EXPECT_EQ(y[t] & 0xffff, float_to_half(std::fma(low, low, low))) << x[t];
    EXPECT_EQ(brain[t], static_cast<uint32_t>(float_to_bfloat(x[t])) << 16 | float_to_bfloat(x[t] * 0.5f));
  }
}

TEST(EmulatedKernels, LanesDivergeInLoopsAndBranches) {
  HEDDLE_NEEDS_NVRTC();
  const std::vector<int> x = integers();
  const auto y = run_each<int>(
      "int", "int",
      "r = 0; for (int i = 0; i < t * 7 % 13; ++i) {\n"
      "  if ((x >> i) & 1) { for (int j = 0; j <= (t & 3); ++j) r += i * j + 1; } else if (i % 3 == 0) r -= 2; else continue;\n"
      "  if (r > 60) break;\n}",
      x);
  for (int t = 0; t < kThreads; ++t) {
    int r = 0;
    for (int i = 0; i < t * 7 % 13; ++i) {
      if (x[t] >> i & 1) {
        for (int j = 0; j <= (t & 3); ++j) r += i * j + 1;
      } else if (i % 3 == 0) {
        r -= 2;
      } else {
        continue;
      }
      if (r > 60) break;
    }
    EXPECT_EQ(y[t], r) << t;
  }
}

TEST(EmulatedKernels, LanesThatLeaveEarlyStayAway) {
  HEDDLE_NEEDS_NVRTC();
  const Program program =
      program_of("extern \"C\" __global__ void k(int* y, int n) { int t = threadIdx.x; if (t >= n) return; y[t] = t * 2; }");
  std::vector<int> y(37, -1);
  GlobalMemory memory;
  Launch launch;
  launch.block = {64, 1, 1};
  launch.arguments.add(memory.add("y", y.data(), y.size() * 4, BufferUse::Output, 4)).add(37);
  const Outcome outcome = run(program, launch, memory);
  EXPECT_TRUE(outcome.findings.clean()) << outcome.findings.to_string();
  for (int t = 0; t < 37; ++t) EXPECT_EQ(y[t], 2 * t);
}

TEST(EmulatedKernels, ShufflesVotesAndReductions) {
  HEDDLE_NEEDS_NVRTC();
  const std::vector<int> x = integers();
  const auto check = [&](const char* body, auto expected) {
    const auto y = run_each<int>("int", "int", body, x);
    for (int t = 0; t < kThreads; ++t) EXPECT_EQ(y[t], expected(t, t % 32, t - t % 32)) << body << " " << t;
  };
  check("r = __shfl_xor_sync(~0u, x, 5);", [&](int t, int, int) { return x[t ^ 5]; });
  check("r = __shfl_sync(~0u, x, t * 3);", [&](int t, int, int warp) { return x[warp + t * 3 % 32]; });
  check("r = __shfl_sync(~0u, x, 3, 8);", [&](int t, int, int) { return x[t / 8 * 8 + 3]; });
  check("r = __shfl_up_sync(~0u, x, 4);", [&](int t, int lane, int) { return x[lane < 4 ? t : t - 4]; });
  check("r = __shfl_down_sync(~0u, x, 4, 16);", [&](int t, int lane, int) { return x[lane % 16 > 11 ? t : t + 4]; });
  check("r = __any_sync(~0u, t == 40) * 2 + __all_sync(~0u, t < 32);", [&](int t, int, int) { return t < 32 ? 1 : 2; });
  check("r = __popc(__ballot_sync(~0u, x & 1));", [&](int, int, int warp) {
    return static_cast<int>(std::count_if(x.begin() + warp, x.begin() + warp + 32, [](int value) { return value & 1; }));
  });
  check("r = __reduce_max_sync(~0u, x);",
        [&](int, int, int warp) { return *std::max_element(x.begin() + warp, x.begin() + warp + 32); });
}

TEST(EmulatedKernels, SharedMemoryReductionWithAtomicsAcrossBlocks) {
  HEDDLE_NEEDS_NVRTC();
  const Program program = program_of(R"(struct Range { int first; float scale; };
extern "C" __global__ void sum(const float4* x, float* total, int* most, Range range) {
  __shared__ float part[128];
  float4 v = x[blockIdx.x * 128 + threadIdx.x + range.first];
  part[threadIdx.x] = (v.x + v.y + v.z + v.w) * range.scale;
  __syncthreads();
  for (int step = 64; step > 0; step >>= 1) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) { atomicAdd(total, part[0]); atomicMax(most, (int)part[0]); }
})");
  std::vector<float> x(4 * 3 * 128 + 8);
  std::iota(x.begin(), x.end(), -8.0f);
  struct Range {
    int first;
    float scale;
  };
  float total = 0;
  int most = -1000000;
  GlobalMemory memory;
  Launch launch;
  launch.grid = {3, 1, 1};
  launch.block = {128, 1, 1};
  launch.arguments.add(memory.add_input("x", x.data(), x.size() * 4)).add(memory.add("total", &total, 4, BufferUse::Shared, 4));
  launch.arguments.add(memory.add("most", &most, 4, BufferUse::Shared, 4)).add(Range{2, 0.5f});
  const Outcome outcome = run(program, launch, memory);
  EXPECT_TRUE(outcome.findings.clean()) << outcome.findings.to_string();
  EXPECT_EQ(total, 0.5f * (1535.0f * 1536 / 2));
  EXPECT_EQ(most, static_cast<int>(0.5f * (512 * 1024 + 511 * 512 / 2)));
  EXPECT_EQ(outcome.sum(program, "ld.global").sectors.actual, 3 * 128 * 16 / 32);
  EXPECT_EQ(outcome.sum(program, "ld.shared").banks.excess(), 0);
}

TEST(EmulatedKernels, StructsOfConstantParametersAreReadThroughTheirAddress) {
  HEDDLE_NEEDS_NVRTC();
  struct Table {
    int weights[6];
    int64_t shift;
  };
  const Program program = program_of(
      "struct Table { int weights[6]; long long shift; };\n"
      "extern \"C\" __global__ void k(const __grid_constant__ Table table, int* y, int n) {\n"
      "  int sum = (int)table.shift; for (int i = 0; i < n; ++i) sum += table.weights[i % 6] * i;\n  y[threadIdx.x] = sum + "
      "threadIdx.x;\n}");
  Table table{{1, -2, 3, -4, 5, -6}, 1000};
  std::vector<int> y(32);
  GlobalMemory memory;
  Launch launch;
  launch.arguments.add_bytes(&table, sizeof table).add(memory.add("y", y.data(), 128, BufferUse::Output, 4)).add(20);
  const Outcome outcome = run(program, launch, memory);
  EXPECT_TRUE(outcome.findings.clean()) << outcome.findings.to_string();
  int sum = 1000;
  for (int i = 0; i < 20; ++i) sum += table.weights[i % 6] * i;
  for (int t = 0; t < 32; ++t) EXPECT_EQ(y[t], sum + t);
}

Outcome run_pair(const std::string& body) {
  const Program program = program_of(
      "extern \"C\" __global__ void k(const int* x, int* y) {\n  __shared__ volatile int s[64]; int t = threadIdx.x;\n" + body +
      "\n}");
  std::vector<int> x(64, 3), y(64);
  GlobalMemory memory;
  Launch launch;
  launch.block = {64, 1, 1};
  launch.arguments.add(memory.add_input("x", x.data(), 256)).add(memory.add("y", y.data(), 256, BufferUse::Output, 4));
  return run(program, launch, memory);
}

TEST(EmulatedKernels, OnlyWarpBarriersOrderTheLanesOfAWarp) {
  HEDDLE_NEEDS_NVRTC();
  EXPECT_TRUE(run_pair("s[t] = t; __syncwarp(); y[t] = s[t ^ 1];").findings.clean());
  EXPECT_GT(run_pair("s[t] = t; y[t] = s[t ^ 1];").findings.count(FindingKind::Race), 0u);
  EXPECT_GT(run_pair("s[t] = t; int z = __shfl_xor_sync(~0u, t, 1); y[t] = s[t ^ 1] + z;").findings.count(FindingKind::Race),
            0u);
  EXPECT_GT(run_pair("s[t] = t; __syncwarp(); y[t] = s[t ^ 32];").findings.count(FindingKind::Race), 0u);
  EXPECT_GT(run_pair("s[t] = t; __syncthreads(); y[t] = s[t ^ 32]; s[t] = 0;").findings.count(FindingKind::Race), 0u);
  EXPECT_TRUE(run_pair("s[t] = t; __syncthreads(); y[t] = s[t ^ 32]; __syncthreads(); s[t] = 0;").findings.clean());
}

TEST(EmulatedKernels, WarpInstructionsThatLackLanesAreFound) {
  HEDDLE_NEEDS_NVRTC();
  EXPECT_GT(run_pair("int z = x[t]; if (t & 1) z = __shfl_xor_sync(~0u, z, 2); y[t] = z;")
                .findings.count(FindingKind::DivergentWarpOperation),
            0u);
  EXPECT_TRUE(run_pair("int z = x[t]; if (t & 1) z = __shfl_xor_sync(0xaaaaaaaau, z, 2); y[t] = z;").findings.clean());
  EXPECT_GT(run_pair("int z = x[t]; if (t & 1) z = __shfl_xor_sync(0xaaaaaaaau, z, 1); y[t] = z;")
                .findings.count(FindingKind::DivergentWarpOperation),
            0u);
  EXPECT_GT(run_pair("int z = t; if (t % 32 < 7) z = __ballot_sync(~0u, t > 2); y[t] = z;")
                .findings.count(FindingKind::DivergentWarpOperation),
            0u);
}

TEST(EmulatedKernels, ArgumentsAndShapesThatDoNotFitAreRefused) {
  HEDDLE_NEEDS_NVRTC();
  const Program program = program_of("extern \"C\" __global__ void k(int* y, int n) { y[threadIdx.x] = n; }");
  GlobalMemory memory;
  Launch launch;
  launch.arguments.add(uint64_t{0});
  EXPECT_THROW(run(program, launch, memory), std::invalid_argument);
  launch.arguments.add(int64_t{0});
  EXPECT_THROW(run(program, launch, memory), std::invalid_argument);
  launch.arguments = {};
  launch.arguments.add(uint64_t{0}).add(0);
  launch.block = {33, 1, 1};
  EXPECT_THROW(run(program, launch, memory), std::invalid_argument);
  launch.block = {32, 1, 1};
  launch.grid = {0, 1, 1};
  EXPECT_THROW(run(program, launch, memory), std::invalid_argument);
}

}  // namespace
}  // namespace heddle::emulator
