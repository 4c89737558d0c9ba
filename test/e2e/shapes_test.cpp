// Shapes: head dims, grouped heads, lengths from zero up, strided views, and memory that nothing may read or write.
#include <gtest/gtest.h>

#include "test/e2e/attention_fixture.h"

namespace heddle::test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

bool near(const Pair& p) { return std::abs(p.q - p.k) < 20; }
bool causal(const Pair& p) { return p.k <= p.q; }

class HeadDims : public testing::TestWithParam<std::pair<int64_t, int64_t>> {};

TEST_P(HeadDims, Right) {
  Engine engine(without_disk());
  const auto& [dim, value_dim] = GetParam();
  const AttentionSpec window = masked(Mask::parse("abs(q - k) < 20"));
  for (const auto& [sq, sk] : {std::pair{1, 1}, {1, 100}, {33, 7}, {97, 200}}) {
    SCOPED_TRACE(testing::Message() << sq << " x " << sk);
    expect_right(engine, window,
                 {.batch = 1, .heads = 2, .kv_heads = 2, .sq = sq, .sk = sk, .dim = dim, .value_dim = value_dim}, near);
  }
  EXPECT_EQ(engine.compilations(), 1);
}

INSTANTIATE_TEST_SUITE_P(E2e, HeadDims,
                         testing::Values(std::pair{16, 16}, std::pair{24, 24}, std::pair{32, 32}, std::pair{40, 40},
                                         std::pair{64, 64}, std::pair{80, 80}, std::pair{96, 96}, std::pair{128, 128},
                                         std::pair{256, 256}, std::pair{1, 1}, std::pair{41, 17}, std::pair{24, 40},
                                         std::pair{256, 16}, std::pair{7, 256}),
                         [](const auto& one) {
                           return "D" + std::to_string(one.param.first) + "V" + std::to_string(one.param.second);
                         });

TEST(Shapes, GroupedHeads) {
  Engine engine(without_disk());
  for (const auto& [heads, kv_heads] : {std::pair{6, 2}, {6, 6}, {8, 1}, {3, 3}}) {
    SCOPED_TRACE(testing::Message() << heads << " / " << kv_heads);
    expect_right(engine, masked(Mask::parse("k <= q")),
                 {.batch = 2, .heads = heads, .kv_heads = kv_heads, .sq = 50, .sk = 50, .dim = 32, .value_dim = 32}, causal);
  }
  EXPECT_EQ(engine.compilations(), 1);
}

/// Every extent zero in turn, or all of them: nothing to write, or rows without a key.
TEST(Shapes, ZeroSizes) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse("k <= q"), 32);
  spec.lse = true;
  const Attention attention = engine.attention(spec);
  for (const Shape& shape : {Shape{0, 2, 1, 5, 5, 32, 32}, Shape{1, 0, 1, 5, 5, 32, 32}, Shape{1, 0, 0, 5, 5, 32, 32},
                             Shape{1, 2, 1, 0, 5, 32, 32}, Shape{1, 2, 1, 5, 0, 32, 32}, Shape{0, 0, 0, 0, 0, 32, 32}}) {
    Data data(shape);
    run(attention, data);
    for (const float value : data.o) EXPECT_EQ(value, 0.0f);
    for (const float value : data.lse) EXPECT_EQ(value, -std::numeric_limits<float>::infinity());
  }
}

/// Masks that name the last key, without keys: no tile in front of the first is read.
TEST(Shapes, NoLastKey) {
  Engine engine(without_disk());
  for (const char* mask : {"k == Sk - 1", "k / 8 == (Sk - 1) / 8", "k >= Sk - 4"}) {
    AttentionSpec spec = masked(Mask::parse(mask), 32);
    spec.lse = true;
    Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 5, .sk = 0, .dim = 32, .value_dim = 32});
    run(engine.attention(spec), data);
    for (const float value : data.o) EXPECT_EQ(value, 0.0f) << mask;
    for (const float value : data.lse) EXPECT_EQ(value, -std::numeric_limits<float>::infinity()) << mask;
  }
}

TEST(Shapes, RowsWithoutKeysGiveZerosAndMinusInfinity) {
  Engine engine(without_disk());
  for (const char* text : {"false", "k > q + 1000", "q < 0", "k < q - 50 && k > q + 50"}) {
    AttentionSpec spec = masked(Mask::parse(text), 16);
    spec.lse = true;
    Data data({.batch = 2, .heads = 2, .kv_heads = 1, .sq = 37, .sk = 45, .dim = 16, .value_dim = 16});
    run(engine.attention(spec), data);
    for (const float value : data.o) ASSERT_EQ(value, 0.0f) << text;
    for (const float value : data.lse) ASSERT_EQ(value, -std::numeric_limits<float>::infinity()) << text;
  }
}

/// One buffer [batch, row, slot, head, d] whose four slots are q, k, v and o.
struct Packed {
  static constexpr int64_t kBatch = 2, kHeads = 3, kRows = 45, kDim = 32, kRow = 4 * kHeads * kDim;
  std::vector<float> memory = std::vector<float>(kBatch * kRows * kRow, -1.0f);

  Tensor slot(int64_t index) {
    return {
        memory.data() + index * kHeads * kDim, DType::Float32, {kBatch, kHeads, kRows, kDim}, {kRows * kRow, kDim, kRow, 1}};
  }
  void fill(int64_t index, const std::vector<float>& dense) {
    const Tensor to = slot(index);
    for (int64_t i = 0; i < static_cast<int64_t>(dense.size()); ++i) {
      const int64_t d = i % kDim, row = i / kDim % kRows, head = i / (kDim * kRows) % kHeads,
                    batch = i / (kDim * kRows * kHeads);
      static_cast<float*>(to.data)[batch * to.strides[0] + head * to.strides[1] + row * to.strides[2] + d] =
          dense[static_cast<size_t>(i)];
    }
  }
};

TEST(Shapes, StridedSlicesOfOnePackedBuffer) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask::parse("k <= q"), Packed::kDim));
  Data data({.batch = 2, .heads = 3, .kv_heads = 3, .sq = 45, .sk = 45, .dim = 32, .value_dim = 32});
  run(attention, data);
  Packed found, expected;
  for (Packed* packed : {&found, &expected}) packed->fill(0, data.q), packed->fill(1, data.k), packed->fill(2, data.v);
  attention.run(found.slot(0), found.slot(1), found.slot(2), found.slot(3));
  expected.fill(3, data.o);
  EXPECT_EQ(found.memory, expected.memory);  // The output slice holds the result, the inputs are untouched.
}

TEST(Shapes, NegativeAndZeroStrides) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask::parse("k <= q"), 16));
  Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 30, .sk = 40, .dim = 16, .value_dim = 16}), reversed = data;
  for (int64_t row = 0; row < 30; ++row)
    std::copy_n(&data.q[static_cast<size_t>(row) * 16], 16, &reversed.q[static_cast<size_t>(29 - row) * 16]);
  std::fill(data.v.begin(), data.v.end(), 3.0f);
  run(attention, data);
  Tensor q = reversed.q_view(), v = data.v_view(), o = reversed.o_view();
  q.data = static_cast<float*>(q.data) + 29 * 16, q.strides[2] = -16;
  o.data = static_cast<float*>(o.data) + 29 * 16, o.strides[2] = -16;
  v.strides[2] = 0;
  attention.run(q, reversed.k_view(), v, o);
  for (int64_t row = 0; row < 30; ++row) {
    for (int64_t d = 0; d < 16; ++d)
      EXPECT_EQ(reversed.o[static_cast<size_t>((29 - row) * 16 + d)], data.o[static_cast<size_t>(row * 16 + d)]);
  }
}

TEST(Shapes, RowsOffVectorAlignmentWithGapsAreLeftAlone) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask::parse("abs(q - k) < 20"), 40));
  const Shape shape{.batch = 1, .heads = 2, .kv_heads = 2, .sq = 33, .sk = 50, .dim = 40, .value_dim = 40};
  Data data(shape);
  run(attention, data);
  std::vector<float> wide(2 * 33 * 43 + 1, -5.0f);
  const Tensor o{wide.data() + 1, DType::Float32, {1, 2, 33, 40}, {2 * 33 * 43, 33 * 43, 43, 1}};
  attention.run(data.q_view(), data.k_view(), data.v_view(), o);
  EXPECT_EQ(wide[0], -5.0f);
  for (int64_t i = 0; i < 2 * 33 * 43; ++i) {
    const int64_t row = i / 43, d = i % 43;
    EXPECT_EQ(wide[static_cast<size_t>(i + 1)], d < 40 ? data.o[static_cast<size_t>(row * 40 + d)] : -5.0f) << i;
  }
}

TEST(Shapes, GarbageThatNothingReadsIsHarmless) {
  Engine engine(without_disk());
  const AttentionSpec spec = masked(Mask::parse("k < 37"));
  Data clean({.batch = 1, .heads = 2, .kv_heads = 1, .sq = 50, .sk = 60}), dirty = clean;
  for (size_t i = 37 * 64; i < 60 * 64; ++i) dirty.k[i] = dirty.v[i] = kNaN;
  run(engine.attention(spec), clean);
  run(engine.attention(spec), dirty);
  EXPECT_EQ(dirty.o, clean.o);
}

TEST(Shapes, ANonFiniteValueRowReachesTheQueriesThatAttendIt) {
  Engine engine(without_disk());
  Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 200, .sk = 200}), clean = data;
  for (size_t d = 0; d < 64; ++d) data.v[150 * 64 + d] = std::numeric_limits<float>::infinity();
  const Attention attention = engine.attention(masked(Mask::parse("k <= q")));
  run(attention, clean);
  run(attention, data);
  for (size_t i = 0; i < data.o.size(); ++i) {
    const bool attends = i / 64 >= 150, same = data.o[i] == clean.o[i];
    EXPECT_TRUE(attends ? !std::isfinite(data.o[i]) : same || std::isnan(data.o[i])) << i;
  }
}

}  // namespace
}  // namespace heddle::test
