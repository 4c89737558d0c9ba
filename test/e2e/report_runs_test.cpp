// What users of similar tools reported about launches, memory, threads and kernels that come and go (ids in the names).
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <fmt/format.h>
#include <fstream>
#include <thread>

#include "heddle/error.h"
#include "test/e2e/counting_malloc.h"
#include "test/e2e/index_probe.h"
#include "test/e2e/wide_memory.h"
#include "test/process.h"

namespace heddle::test {
namespace {

int64_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  }
  return 0;
}

Shape one_head(int64_t length, int64_t dim = 16) {
  return {.batch = 1, .heads = 1, .kv_heads = 1, .sq = length, .sk = length, .dim = dim, .value_dim = dim};
}

/// The same numbers in dense tensors and in tensors whose batches lie `stride` elements apart give the same bits.
void expect_wide_batches(const Attention& attention, int64_t stride) {
  Data dense({.batch = 2, .heads = 2, .kv_heads = 2, .sq = 16, .sk = 16, .dim = 16, .value_dim = 16});
  run(attention, dense);
  const int64_t item = 2 * 16 * 16;
  WideMemory q(stride + item), k(stride + item), v(stride + item), o(stride + item);
  const auto view = [&](WideMemory& memory) {
    return Tensor{memory.data(), DType::Float32, {2, 2, 16, 16}, {stride, 256, 16, 1}};
  };
  for (int64_t b = 0; b < 2; ++b) {
    std::copy_n(dense.q.data() + b * item, item, q.data() + b * stride);
    std::copy_n(dense.k.data() + b * item, item, k.data() + b * stride);
    std::copy_n(dense.v.data() + b * item, item, v.data() + b * stride);
  }
  attention.run(view(q), view(k), view(v), view(o));
  for (int64_t b = 0; b < 2; ++b) {
    EXPECT_TRUE(std::equal(o.data() + b * stride, o.data() + b * stride + item, dense.o.data() + b * item)) << "batch " << b << " stride " << stride;
  }
}

TEST(FieldReports, R029_BatchStridesAroundTwoToThe31) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask::parse("k <= q"), 16));
  for (const int64_t stride : {(int64_t{1} << 31) - 64, (int64_t{1} << 31) + 64}) expect_wide_batches(attention, stride);
}

TEST(FieldReports, R084_EnginesMadeOnManyThreadsAtOnce) {
  constexpr int kThreads = 16, kRounds = 3;
  std::barrier start(kThreads);
  std::vector<std::string> failures(kThreads);
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        start.arrive_and_wait();
        Engine engine(without_disk(1));
        const int64_t width = 1 + t + kThreads * round;
        Data data(one_head(70, 8));
        run(engine.attention(masked(Mask::parse("k <= q && q - k < w", {{"w", width}}), 8)), data);
        const Expected expected = judge(data, [&](const Pair& p) { return p.k <= p.q && p.q - p.k < width; }, plain, 1 / std::sqrt(8.0));
        if (distance(data.o, expected.o) > 6e-6) failures[static_cast<size_t>(t)] += fmt::format("round {}; ", round);
      }
    });
  }
  threads.clear();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
}

/// Formulas that tell each other apart in every output, and what they mean.
struct Side {
  const char* text;
  std::function<bool(int64_t, int64_t)> allows;
};
const Side kSides[] = {{"q >= k", [](int64_t q, int64_t k) { return q >= k; }},
                       {"q <= k", [](int64_t q, int64_t k) { return q <= k; }},
                       {"abs(q - k) <= 3", [](int64_t q, int64_t k) { return std::abs(q - k) <= 3; }},
                       {"(q + k) % 2 == 0", [](int64_t q, int64_t k) { return (q + k) % 2 == 0; }},
                       {"q / 8 == k / 8", [](int64_t q, int64_t k) { return q / 8 == k / 8; }}};

/// Engines and kernels are made and dropped one after the other, so that code comes to lie where other code lay.
TEST(FieldReports, R082_AReusedAddressNeverRunsTheOldCode) {
  const Folder cache;
  EngineOptions options;
  options.threads = 1, options.cache_dir = cache.path();
  Data data(one_head(32, 8));
  std::vector<Expected> expected;
  for (const Side& side : kSides) {
    expected.push_back(judge(data, [&](const Pair& p) { return side.allows(p.q, p.k); }, plain, 1 / std::sqrt(8.0)));
  }
  int64_t compilations = 0;
  for (int round = 0; round < 1000; ++round) {
    const size_t which = static_cast<size_t>(round * round + round / 3) % std::size(kSides);
    Engine engine(options);
    run(engine.attention(masked(Mask::parse(kSides[which].text), 8)), data);
    ASSERT_LE(distance(data.o, expected[which].o), 6e-6) << "round " << round << ", " << kSides[which].text;
    compilations += engine.compilations();
  }
  EXPECT_EQ(compilations, static_cast<int64_t>(std::size(kSides)));
}

/// Keys 0.5 * k and queries of 1 in one dim: scores grow by `step` a key, so that every tile raises the maximum; a negative step falls.
TEST(FieldReports, R045_ScoresThatGrowWithEveryKey) {
  constexpr int64_t kKeys = 512, kDim = 16;
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask(), kDim));
  LaunchOptions options;
  options.scale = 1;
  std::vector<float> outputs[2];
  for (const bool reversed : {false, true}) {
    Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 40, .sk = kKeys, .dim = kDim, .value_dim = kDim});
    std::fill(data.q.begin(), data.q.end(), 0.0f), std::fill(data.k.begin(), data.k.end(), 0.0f);
    for (int64_t q = 0; q < 40; ++q) data.q[static_cast<size_t>(q * kDim)] = 1;
    const std::vector<float> values = data.v;
    for (int64_t i = 0; i < kKeys; ++i) {
      const int64_t k = reversed ? kKeys - 1 - i : i;
      data.k[static_cast<size_t>(k * kDim)] = 0.5f * static_cast<float>(i);
      std::copy_n(values.begin() + i * kDim, kDim, data.v.begin() + k * kDim);
    }
    run(attention, data, options);
    EXPECT_LE(distance(data.o, judge(data, [](const Pair&) { return true; }, plain, 1).o), 8e-6) << "reversed " << reversed;
    outputs[reversed] = data.o;
  }
  for (size_t i = 0; i < outputs[0].size(); ++i) EXPECT_NEAR(outputs[0][i], outputs[1][i], 8e-6);
}

TEST(FieldReports, R085_CodeOutlivesItsEvictionWhileItRuns) {
  Engine engine(without_disk(1));
  std::optional<Attention> shared = engine.attention(masked(Mask::parse("k <= q"), 8));
  Data expected(one_head(64, 8));
  run(*shared, expected);
  std::atomic<bool> stop = false;
  std::atomic<int64_t> runs = 0, wrong = 0;
  std::jthread runner([&, attention = *shared] {
    Data data(one_head(64, 8));
    while (!stop) {
      std::fill(data.o.begin(), data.o.end(), -1.0f);
      run(attention, data);
      wrong += data.o != expected.o;
      ++runs;
    }
  });
  shared.reset();
  Data other(one_head(64, 8));
  for (int64_t w = 1; w <= 40 || runs < 1000; ++w) {  // other kernels come and go meanwhile
    run(engine.attention(masked(Mask::parse("q - k < w", {{"w", w}}), 8)), other);
    Engine another(without_disk(1));
    another.attention(masked(Mask::parse("k - q < w", {{"w", 1 + w % 5}}), 8));
  }
  stop = true;
  runner.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(runs, 1000);
}

/// Kernels of `count` distinct masks, each run once and dropped with its engine.
void compile_run_drop(int64_t first, int64_t count) {
  for (int64_t w = first; w < first + count; ++w) {
    Engine engine(without_disk(1));
    Data data(one_head(32, 8));
    run(engine.attention(masked(Mask::parse("k <= q && q - k < w", {{"w", w}}), 8)), data);
  }
}

TEST(FieldReports, R087_DroppedKernelsGiveTheirMemoryBack) {
  compile_run_drop(1, 40);  // arenas, LLVM's tables and the pages of its code
  const int64_t before = resident_kilobytes();
  compile_run_drop(1000, 100);
  const int64_t grown = resident_kilobytes() - before;
  EXPECT_LT(grown, 1024) << "KiB after 100 kernels";
}

TEST(FieldReports, R104_SmallPairBiasesAreReadWhereTheyAre) {
  constexpr int64_t kLength = 128;
  const Shape shape{.batch = 4, .heads = 4, .kv_heads = 4, .sq = kLength, .sk = kLength, .dim = 16, .value_dim = 16};
  std::vector<float> pair = normal_values(kLength * kLength, 21), key = normal_values(kLength, 22);
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask(), 16);
  spec.score = Score::parse("s + pair[b, h, q, k] + one[b, 0, 0, k]", {{"pair", TableOf{DType::Float32}}, {"one", TableOf{DType::Float32}}});
  LaunchOptions options;
  options.tables = {{"pair", Tensor::dense(pair.data(), {1, 1, kLength, kLength})}, {"one", Tensor::dense(key.data(), {1, 1, 1, kLength})}};
  expect_right(engine, spec, shape, [](const Pair&) { return true; }, [&](double s, const Pair& p) {
    return s + pair[static_cast<size_t>(p.q * kLength + p.k)] + key[static_cast<size_t>(p.k)];
  }, options);
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer's allocator is in use";
  const Attention attention = engine.attention(spec);
  const Binding binding =
      attention.bind({.tables = options.tables, .batch = 4, .heads = 4, .kv_heads = 4, .sq = kLength, .sk = kLength});
  Data data(shape);
  const Tensor q = data.q_view(), k = data.k_view(), v = data.v_view(), o = data.o_view();
  LaunchOptions bound;
  bound.binding = &binding;
  attention.run(q, k, v, o, nullptr, bound);
  const int64_t before = allocations_so_far();
  attention.run(q, k, v, o, nullptr, bound);
  EXPECT_EQ(allocations_so_far(), before);  // nothing is expanded, into whatever
}

TEST(FieldReports, R105_ATokenMaskOfABatchTouchesKeysOnly) {
  constexpr int64_t kLength = 30;
  std::vector<uint8_t> present(2 * kLength, 1);
  for (const size_t token : {0, 3, 4, 17, 29, 30 + 1, 30 + 2, 30 + 15, 30 + 28}) present[token] = 0;
  Engine engine(without_disk());
  AttentionSpec spec;
  spec.mask = Mask::parse("present[b, k] == 1", {{"present", TableOf{DType::UInt8}}});
  LaunchOptions options;
  options.tables = {{"present", Tensor::dense(present.data(), {2, kLength}, DType::UInt8)}};
  const Shape shape{.batch = 2, .heads = 3, .kv_heads = 3, .sq = kLength, .sk = kLength, .dim = 16, .value_dim = 16};
  expect_right(engine, spec, shape, [&](const Pair& p) { return present[static_cast<size_t>(p.b * kLength + p.k)] == 1; }, plain, options);
}

TEST(FieldReports, R107_NothingNeedsAGpu) {
  Engine engine;
  Data data(one_head(40));
  run(engine.attention(masked(Mask::parse("k <= q"), 16)), data);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    for (const char* library : {"libcuda", "libnvrtc", "libamdhip", "libhiprtc", "libhsa"}) {
      EXPECT_EQ(line.find(library), std::string::npos) << line;
    }
  }
}

}  // namespace
}  // namespace heddle::test
