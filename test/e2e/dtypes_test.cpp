// bfloat16 and float16 operands through the public API: accuracy, every kernel family, pages, and what is refused.
#include <gtest/gtest.h>

#include "test/e2e/half_fixture.h"

namespace heddle::test {
namespace {

bool causal(const Pair& p) { return p.k <= p.q; }
bool window(const Pair& p) { return p.k <= p.q && p.q - p.k < 40; }
bool all(const Pair&) { return true; }

std::vector<Target> here() {
  std::vector<Target> targets;
  for (const Target& target : Target::all()) {
    if (target.runs_here()) targets.push_back(target);
  }
  return targets;
}

TEST(Dtypes, KeepToTheBarOfADenseComputation) {
  for (const Target& target : here()) {
    EngineOptions options = without_disk();
    options.target = target;
    Engine engine(options);
    for (const DType dtype : kHalves) {
      SCOPED_TRACE(target.to_string() + " " + to_string(dtype));
      expect_right_in_halves(engine, {}, {1, 2, 1, 100, 130, 64, 64}, all, dtype);
      expect_right_in_halves(engine, masked(Mask::parse("k <= q")), {2, 2, 2, 150, 150, 40, 72}, causal, dtype, 2);
      expect_right_in_halves(engine, masked(Mask::parse("k <= q && q - k < 40")), {1, 4, 2, 200, 200, 128, 33}, window, dtype, 3);
      expect_right_in_halves(engine, masked(Mask::parse("k <= q")), {1, 1, 1, 65, 65, 41, 1}, causal, dtype, 4);
    }
  }
}

TEST(Dtypes, OfFewQueriesOverManyKeys) {
  for (const Target& target : here()) {
    EngineOptions options = without_disk();
    options.target = target;
    Engine engine(options);
    for (const DType dtype : kHalves) {
      SCOPED_TRACE(target.to_string() + " " + to_string(dtype));
      const AttentionSpec decoding{.mask = Mask::parse("k <= q + (Sk - Sq)"), .queries = 1};
      const Allows allows = [](const Pair& p) { return p.k <= p.q + (p.sk - p.sq); };
      expect_right_in_halves(engine, decoding, {1, 4, 1, 1, 3000, 128, 128}, allows, dtype);  // keys in parts
      expect_right_in_halves(engine, decoding, {2, 4, 2, 3, 100, 41, 23}, allows, dtype, 2);  // one part
      expect_right_in_halves(engine, {}, {1, 2, 2, 2, 700, 7, 70}, all, dtype, 3);            // found at the launch
    }
  }
}

TEST(Dtypes, EmptyRowsAreZero) {
  Engine engine(without_disk());
  for (const DType dtype : kHalves) {
    for (const int64_t queries : {0, 1}) {
      Data wide({1, 2, 1, 3, 5, 16, 8});
      HalfData data(wide, dtype);
      run(engine.attention({.mask = Mask::parse("k > q + 100"), .head_dim = 16, .value_dim = 8, .dtype = dtype, .lse = true, .queries = queries}), data);
      for (const uint16_t bits : data.o) EXPECT_EQ(bits, 0);
      for (const float lse : data.lse) EXPECT_EQ(lse, -std::numeric_limits<float>::infinity());
    }
  }
}

TEST(Dtypes, OfPages) {
  constexpr int64_t kPage = 16, kKeys = 600, kDim = 32;
  Engine engine(without_disk());
  for (const DType dtype : kHalves) {
    const AttentionSpec spec{.mask = Mask::parse("k <= q + (Sk - Sq)"), .head_dim = kDim, .dtype = dtype};
    Data wide({1, 2, 1, 2, kKeys, kDim, kDim});
    HalfData whole(wide, dtype), paged(wide, dtype);
    run(engine.attention(spec), whole);
    const int64_t pages = (kKeys + kPage - 1) / kPage;
    std::vector<uint16_t> k(static_cast<size_t>(pages * kPage * kDim)), v = k;
    std::vector<int32_t> table;
    for (int64_t page = 0; page < pages; ++page) {  // backwards
      table.push_back(static_cast<int32_t>(pages - 1 - page));
      const int64_t count = std::min(kPage, kKeys - page * kPage) * kDim, to = table.back() * kPage * kDim;
      std::copy_n(whole.k.begin() + page * kPage * kDim, count, k.begin() + to);
      std::copy_n(whole.v.begin() + page * kPage * kDim, count, v.begin() + to);
    }
    int32_t length = kKeys;
    const PagedKeys pages_of{Tensor::dense(table.data(), {1, pages}, DType::Int32), Tensor::dense(&length, {1}, DType::Int32)};
    engine.attention(spec).run(paged.q_view(), Tensor::dense(k.data(), {pages, 1, kPage, kDim}, dtype),
                               Tensor::dense(v.data(), {pages, 1, kPage, kDim}, dtype), paged.o_view(), nullptr, {.paged = &pages_of});
    EXPECT_EQ(whole.o, paged.o);
  }
}

TEST(Dtypes, KeepProbabilitiesInFloat32) {
  Engine engine(without_disk());
  for (const DType dtype : kHalves) {
    Data wide({1, 2, 2, 70, 70, 24, 24});
    HalfData data(wide, dtype);
    const Attention attention = engine.attention({.mask = Mask::parse("k <= q && q - k < 9"), .head_dim = 24, .dtype = dtype, .probabilities = true});
    const AcsrLayout layout = attention.acsr_layout({.batch = 1, .heads = 2, .kv_heads = 2, .sq = 70, .sk = 70});
    std::vector<float> values(static_cast<size_t>(2 * 70 * layout.width()));
    const Tensor probabilities = Tensor::dense(values.data(), {1, 2, 70, layout.width()});
    run(attention, data, {.probabilities = &probabilities});
    for (int64_t row = 0; row < 2 * 70; ++row) {
      float sum = 0;
      for (int64_t slot = 0; slot < layout.width(); ++slot) sum += values[static_cast<size_t>(row * layout.width() + slot)];
      EXPECT_NEAR(sum, 1, 1e-6);
    }
    const Allows allows = [](const Pair& p) { return p.k <= p.q && p.q - p.k < 9; };
    const double scale = 1 / std::sqrt(24.0);
    const Expected expected = judge(wide, allows, plain, scale);
    EXPECT_LE(distance(data.output(), expected.o), 1.5 * dense_error(wide, dtype, allows, scale, expected));
  }
}

TEST(Dtypes, ResultsDoNotDependOnThreads) {
  for (const DType dtype : kHalves) {
    Data wide({1, 4, 2, 300, 300, 64, 64});
    HalfData one(wide, dtype), three(wide, dtype);
    for (auto [data, threads] : {std::pair{&one, 1}, {&three, 3}}) {
      Engine engine(without_disk(threads));
      run(engine.attention({.mask = Mask::parse("k <= q"), .dtype = dtype}), *data);
    }
    EXPECT_EQ(one.o, three.o);
  }
}

TEST(Dtypes, MustAgreeWithTheKernel) {
  Engine engine(without_disk());
  Data wide({1, 2, 1, 8, 8, 16, 16});
  HalfData data(wide, DType::BFloat16);
  const Attention attention = engine.attention({.head_dim = 16});
  try {
    run(attention, data);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "q is bfloat16; this kernel takes float32");
    EXPECT_EQ(error.hint(), "compile with AttentionSpec::dtype as q, k, v and o have it");
  }
  EXPECT_THROW(engine.attention({.head_dim = 16, .dtype = DType::Int32}), UserError);
}

}  // namespace
}  // namespace heddle::test
