// What one kernel serves: all lengths, threads and launches.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "test/e2e/attention_fixture.h"
#include "test/e2e/counting_malloc.h"

namespace heddle::test {
namespace {

bool window(const Pair& p) { return p.k <= p.q && p.q - p.k < 50; }
const char* const kWindow = "k <= q && q - k < 50";

TEST(OneKernel, ServesAllLengthsBatchesAndHeads) {
  Engine engine(without_disk());
  for (const Shape& shape : {Shape{1, 1, 1, 1, 1, 32, 32}, Shape{1, 1, 1, 2, 300, 32, 32}, Shape{3, 2, 1, 31, 31, 32, 32},
                             Shape{1, 2, 2, 64, 64, 32, 32}, Shape{1, 4, 2, 65, 63, 32, 32}, Shape{2, 1, 1, 127, 500, 32, 32},
                             Shape{1, 1, 1, 1000, 900, 32, 32}}) {
    SCOPED_TRACE(testing::Message() << shape.sq << " x " << shape.sk);
    expect_right(engine, masked(Mask::parse(kWindow)), shape, window);
  }
  EXPECT_EQ(engine.compilations(), 1);
}

TEST(OneKernel, IsCompiledOnceForThreadsThatAskTogether) {
  Engine engine(without_disk());
  std::vector<Attention> found(4);
  std::vector<std::thread> threads;
  for (Attention& one : found) threads.emplace_back([&] { one = engine.attention(masked(Mask::parse(kWindow))); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(engine.compilations(), 1);
  int compiled = 0;
  for (const Attention& one : found) {
    EXPECT_EQ(one.report().key, found[0].report().key);
    compiled += one.report().origin == KernelReport::Origin::Compiled;
  }
  EXPECT_EQ(compiled, 1);
}

TEST(OneKernel, DiffersByWhateverIsCompiledIn) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse("k <= q && q - k < w", {{"w", 50}}));
  const std::string key = engine.attention(spec).report().key;
  EXPECT_EQ(engine.attention(masked(Mask::parse(kWindow))).report().key, key);
  EXPECT_NE(engine.attention(masked(Mask::parse("k <= q && q - k < 51"))).report().key, key);
  EXPECT_NE(engine.attention(masked(Mask::parse(kWindow), 32)).report().key, key);
  spec.lse = true;
  EXPECT_NE(engine.attention(spec).report().key, key);
  EXPECT_EQ(engine.compilations(), 4);
}

TEST(OneKernel, OutlivesItsEngine) {
  Data first({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 70, .sk = 70}), second = first;
  Attention attention;
  {
    Engine engine(without_disk());
    attention = engine.attention(masked(Mask::parse(kWindow)));
    run(attention, first);
  }
  run(attention, second);
  EXPECT_EQ(first.o, second.o);
}

TEST(OneKernel, RunsOnManyThreadsOfTheCaller) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask::parse(kWindow)));
  const Data data({.batch = 1, .heads = 2, .kv_heads = 1, .sq = 200, .sk = 200});
  Data expected = data;
  run(attention, expected);
  std::vector<Data> results(4, data);
  std::vector<std::thread> threads;
  for (Data& one : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) run(attention, one);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Data& one : results) EXPECT_EQ(one.o, expected.o);
}

TEST(Launches, BitwiseEqualForAnyThreadCount) {
  for (const char* text : {"k <= q", "abs(q - k) <= 30 || k < 4 || q < 4", "(q * q + k) % 7 < 3"}) {
    std::vector<float> first;
    for (const int threads : {1, 2, 3, 7}) {
      Engine engine(without_disk(threads));
      Data data({.batch = 1, .heads = 4, .kv_heads = 2, .sq = 517, .sk = 517});
      run(engine.attention(masked(Mask::parse(text))), data);
      if (first.empty()) first = data.o;
      EXPECT_EQ(data.o, first) << text << ", " << threads << " threads";
    }
  }
}

/// Also with parameters. The first launch is large enough for every thread of the pool to get its scratch.
TEST(Launches, AllocateNothingAfterTheFirst) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer's allocator is in use";
  Engine engine(without_disk(2));
  AttentionSpec spec = masked(Mask::parse("k <= q && q - k < w", {{"w", Dynamic{}}}));
  spec.lse = true;
  const Attention attention = engine.attention(spec);
  LaunchOptions options;
  options.ints = {{"w", 50}};
  Data small({.batch = 1, .heads = 2, .kv_heads = 1, .sq = 20, .sk = 20}),
      large({.batch = 2, .heads = 2, .kv_heads = 1, .sq = 700, .sk = 900});
  const auto launch = [&](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& o, const Tensor& lse) {
    const int64_t before = allocations_so_far();
    attention.run(q, k, v, o, &lse, options);
    return allocations_so_far() - before;
  };
  const Tensor q = large.q_view(), k = large.k_view(), v = large.v_view(), o = large.o_view(), lse = large.lse_view();
  run(attention, large, options);
  run(attention, small, options);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(launch(q, k, v, o, lse), 0);
  const auto counted = std::make_unique<int>(1);
  const int64_t before = allocations_so_far();
  EXPECT_EQ(*std::make_unique<int>(*counted), 1);
  EXPECT_GE(allocations_so_far(), before + 1);  // The counter counts.
}

TEST(Engine, Reports) {
  Engine engine(without_disk(3));
  EXPECT_EQ(engine.threads(), 3);
  EXPECT_EQ(engine.cache_dir(), "");
  const Attention attention = engine.attention(masked(Mask::parse(kWindow)));
  const KernelReport& report = attention.report();
  EXPECT_EQ(report.origin, KernelReport::Origin::Compiled);
  EXPECT_GT(report.milliseconds, 0);
  EXPECT_EQ(report.path, "");
  EXPECT_FALSE(report.facts.empty());
  EXPECT_FALSE(report.plan.empty());
  EXPECT_GT(report.block_rows, 0);
  EXPECT_FALSE(report.passes.empty());
  EXPECT_EQ(engine.attention(masked(Mask::parse(kWindow))).report().origin, KernelReport::Origin::Memory);
}

}  // namespace
}  // namespace heddle::test
