// Decoding through the public API: growing caches, groups of heads, long keys in parts, pages.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "heddle/error.h"
#include "test/e2e/attention_fixture.h"
#include "test/e2e/counting_malloc.h"

namespace heddle::test {
namespace {

const char* const kAligned = "k <= q + (Sk - Sq)";
bool aligned(const Pair& p) { return p.k <= p.q + (p.sk - p.sq); }
bool every(const Pair&) { return true; }

AttentionSpec decoding(const Mask& mask, int64_t dim = 64) {
  AttentionSpec spec = masked(mask, dim);
  spec.queries = 1;
  return spec;
}

TEST(Decoding, CompilesOnceOver512GrowingSteps) {
  for (const int64_t queries : {1, 0}) {
    Engine engine(without_disk());
    AttentionSpec spec = decoding(Mask::parse("k <= q + off", {{"off", Dynamic{}}}), 16);
    spec.queries = queries, spec.lse = true;
    const Attention attention = engine.attention(spec);
    for (int64_t keys = 1; keys <= 512; ++keys) {
      Data data({.batch = 1, .heads = 4, .kv_heads = 2, .sq = 1, .sk = keys, .dim = 16, .value_dim = 16}, static_cast<uint32_t>(keys));
      LaunchOptions options;
      options.ints = {{"off", keys - 1}};
      run(attention, data, options);
      if (keys % 37 > 1 && keys < 500) continue;
      const Expected expected = judge(data, every, plain, 0.25);
      EXPECT_LE(distance(data.o, expected.o), 8e-6) << keys;
      EXPECT_LE(distance(data.lse, expected.lse), 1e-5) << keys;
    }
    EXPECT_EQ(engine.compilations(), queries == 1 ? 1 : 2);
  }
}

TEST(Decoding, ServesEveryShapeWithTwoKernels) {
  Engine engine(without_disk());
  for (const Shape& shape : {Shape{1, 2, 1, 1, 1, 32, 32}, Shape{2, 4, 4, 1, 1000, 32, 32}, Shape{1, 8, 1, 3, 3000, 32, 32},
                             Shape{3, 6, 2, 8, 300, 32, 32}, Shape{1, 2, 1, 9, 300, 32, 32}, Shape{1, 2, 1, 100, 130, 32, 32}}) {
    SCOPED_TRACE(testing::Message() << shape.sq << " x " << shape.sk);
    expect_right(engine, decoding(Mask::parse(kAligned)), shape, aligned);
  }
  EXPECT_EQ(engine.compilations(), 2);
}

TEST(Decoding, HeadAndValueDims) {
  Engine engine(without_disk());
  for (const auto& [dim, value_dim] : std::vector<std::pair<int64_t, int64_t>>{{16, 16}, {24, 40}, {40, 24}, {64, 128}, {80, 80}, {96, 1}, {128, 64}, {256, 256}, {192, 128}}) {
    expect_right(engine, decoding(Mask::parse(kAligned)), {2, 6, 2, 1, 777, dim, value_dim}, aligned);
  }
}

TEST(Decoding, R050_AnyNumberOfQueryHeadsAKeyHead) {
  Engine engine(without_disk());
  for (const int64_t group : {6, 3, 5, 7, 16, 17, 40}) expect_right(engine, decoding(Mask()), {1, 2 * group, 2, 1, 4096, 16, 16}, every);
}

TEST(Decoding, R043_EveryCapMatters) {
  Engine engine(without_disk());
  std::vector<std::vector<float>> outputs;
  for (const double cap : {5.0, 50.0}) {
    AttentionSpec spec = decoding(Mask(), 16);
    spec.score = Score::parse("c * tanh(s / c)", {{"c", cap}});
    LaunchOptions options;
    options.scale = 10;
    Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 1, .sk = 64, .dim = 16, .value_dim = 16});
    run(engine.attention(spec), data, options);
    EXPECT_LE(distance(data.o, judge(data, every, [cap](double s, const Pair&) { return cap * std::tanh(s / cap); }, 10).o), 2e-5);
    outputs.push_back(data.o);
  }
  double largest = 0;
  for (size_t i = 0; i < outputs[0].size(); ++i) largest = std::max(largest, std::abs(double{outputs[0][i]} - outputs[1][i]));
  EXPECT_GT(largest, 1e-2);
}

TEST(Decoding, R035_TheLogSumExpIsNatural) {
  Engine engine(without_disk());
  AttentionSpec spec = decoding(Mask(), 16);
  spec.lse = true;
  for (const int64_t keys : {1, 2, 3, 100, 5000}) {
    Data data({.batch = 1, .heads = 2, .kv_heads = 1, .sq = 1, .sk = keys, .dim = 16, .value_dim = 16});
    std::fill(data.q.begin(), data.q.end(), 0.0f);
    spec.value_dim = 16;
    run(engine.attention(spec), data);
    for (const float lse : data.lse) EXPECT_NEAR(lse, std::log(static_cast<double>(keys)), 1e-5) << keys;
  }
}

/// Cache slots beyond the keys in use hold garbage, whether a mask or a shorter view leaves them out.
TEST(Decoding, R005_UnusedCacheSlotsAreHarmless) {
  Engine engine(without_disk());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Data data({.batch = 1, .heads = 4, .kv_heads = 2, .sq = 1, .sk = 900, .dim = 16, .value_dim = 16});
  for (int64_t head = 0; head < 2; ++head) {
    for (int64_t i = (head * 900 + 601) * 16; i < (head + 1) * 900 * 16; ++i) data.k[static_cast<size_t>(i)] = data.v[static_cast<size_t>(i)] = nan;
  }
  LaunchOptions options;
  options.ints = {{"off", 600}};
  run(engine.attention(decoding(Mask::parse("k <= q + off", {{"off", Dynamic{}}}), 16)), data, options);
  Data clean = data;
  for (std::vector<float>* values : {&clean.k, &clean.v}) {
    for (float& x : *values) x = std::isnan(x) ? 0 : x;
  }
  EXPECT_LE(distance(data.o, judge(clean, [](const Pair& p) { return p.k <= 600; }, plain, 0.25).o), 8e-6);
}

TEST(Decoding, R001_RowsWithoutKeysAreZero) {
  Engine engine(without_disk());
  expect_right(engine, decoding(Mask::parse("k < q")), {2, 4, 2, 3, 700, 32, 32}, [](const Pair& p) { return p.k < p.q; });
  expect_right(engine, decoding(Mask::parse("k > q + 5000")), {1, 4, 2, 1, 1500, 32, 32}, [](const Pair&) { return false; });
  expect_right(engine, decoding(Mask()), {1, 4, 2, 1, 0, 32, 32}, every);
}

TEST(Decoding, WindowsHeadsAndTables) {
  Engine engine(without_disk());
  expect_right(engine, decoding(Mask::parse("k <= q + (Sk - Sq) && q + (Sk - Sq) - k < 100")), {1, 8, 2, 2, 5000, 32, 32},
               [](const Pair& p) { return aligned(p) && p.q + (p.sk - p.sq) - p.k < 100; });
  expect_right(engine, decoding(Mask::parse("k >= 100 * h && k < 2000")), {1, 8, 2, 1, 3000, 32, 32},
               [](const Pair& p) { return p.k >= 100 * p.h && p.k < 2000; });
  std::vector<int32_t> lengths = {900, 0, 77};
  LaunchOptions options;
  options.tables = {{"len", Tensor::dense(lengths.data(), {3}, DType::Int32)}};
  expect_right(engine, decoding(Mask::parse("k < len[b]", {{"len", TableOf{}}})), {3, 4, 2, 1, 1000, 32, 32},
               [&](const Pair& p) { return p.k < lengths[static_cast<size_t>(p.b)]; }, plain, options);
}

TEST(Decoding, BindingsServeTheKernelOfTheirShape) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(decoding(Mask::parse("doc[k] == doc[q]", {{"doc", TableOf{}}}), 32));
  for (const int64_t rows : {1, 100}) {
    Data data({.batch = 1, .heads = 4, .kv_heads = 2, .sq = rows, .sk = 1000, .dim = 32, .value_dim = 32});
    std::vector<int32_t> doc(1000);
    for (size_t i = 0; i < doc.size(); ++i) doc[i] = static_cast<int32_t>(i / 300);
    const Binding binding = attention.bind({.tables = {{"doc", Tensor::dense(doc.data(), {1000}, DType::Int32)}}, .heads = 4, .kv_heads = 2, .sq = rows, .sk = 1000});
    LaunchOptions options;
    options.binding = &binding;
    run(attention, data, options);
    const auto allows = [&](const Pair& p) { return doc[static_cast<size_t>(p.q)] == doc[static_cast<size_t>(p.k)]; };
    EXPECT_LE(distance(data.o, judge(data, allows, plain, 1 / std::sqrt(32.0)).o), 2e-6 * std::sqrt(32.0));
  }
}

TEST(Decoding, BitwiseEqualForAnyThreadCount) {
  for (const char* text : {kAligned, "(q * q + k) % 7 < 3"}) {
    std::vector<float> first;
    for (const int threads : {1, 2, 3, 7}) {
      Engine engine(without_disk(threads));
      Data data({.batch = 1, .heads = 8, .kv_heads = 2, .sq = 2, .sk = 20000});
      run(engine.attention(decoding(Mask::parse(text))), data);
      if (first.empty()) first = data.o;
      EXPECT_EQ(data.o, first) << text << ", " << threads << " threads";
    }
  }
}

TEST(Decoding, AllocatesNothingAfterTheFirstLaunch) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer's allocator is in use";
  Engine engine(without_disk(2));
  AttentionSpec spec = masked(Mask::parse(kAligned), 32);
  spec.lse = true;
  const Attention attention = engine.attention(spec);
  Data data({.batch = 1, .heads = 8, .kv_heads = 2, .sq = 1, .sk = 9000, .dim = 32, .value_dim = 32});
  const Tensor q = data.q_view(), k = data.k_view(), v = data.v_view(), o = data.o_view(), lse = data.lse_view();
  attention.run(q, k, v, o, &lse);
  const int64_t before = allocations_so_far();
  for (int i = 0; i < 3; ++i) attention.run(q, k, v, o, &lse);
  EXPECT_EQ(allocations_so_far() - before, 0);
}

TEST(Decoding, ThreadsThatNeedTheOtherKernelCompileItOnce) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask::parse(kAligned), 32));
  const Data data({.batch = 1, .heads = 4, .kv_heads = 2, .sq = 1, .sk = 800, .dim = 32, .value_dim = 32});
  std::vector<Data> results(4, data);
  std::vector<std::thread> threads;
  for (Data& one : results) threads.emplace_back([&] { run(attention, one); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(engine.compilations(), 2);
  for (const Data& one : results) EXPECT_EQ(one.o, results[0].o);
}

TEST(Decoding, RefusesNegativeQueries) {
  Engine engine(without_disk());
  AttentionSpec spec;
  spec.queries = -1;
  EXPECT_THROW(engine.attention(spec), UserError);
}

TEST(Decoding, ExplainsItself) {
  Engine engine(without_disk());
  const std::string plan = engine.attention(decoding(Mask::parse(kAligned))).report().plan;
  EXPECT_NE(plan.find("K and V read once"), std::string::npos) << plan;
  EXPECT_NE(plan.find("row blocks"), std::string::npos) << plan;
}

}  // namespace
}  // namespace heddle::test
