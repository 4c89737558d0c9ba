// Keys and values in pages: against the same keys in one piece, and everything that is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "heddle/error.h"
#include "test/e2e/attention_fixture.h"

namespace heddle::test {
namespace {

/// The keys of a Data dealt out to pages in random order; slots that nobody uses are NaN.
struct Pages {
  Pages(const Data& data, int64_t page, std::vector<int64_t> sequence_lengths) : page_keys(page), lengths(std::move(sequence_lengths)) {
    const Shape& s = data.shape;
    row_pages = (s.sk + page - 1) / page;
    count = s.batch * row_pages + 3;
    std::vector<int32_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(5));
    table.assign(order.begin(), order.begin() + s.batch * row_pages);
    k = dealt(data.k, s, s.dim);
    v = dealt(data.v, s, s.value_dim);
    k_shape = {count, s.kv_heads, page, s.dim}, v_shape = {count, s.kv_heads, page, s.value_dim};
  }
  std::vector<float> dealt(const std::vector<float>& from, const Shape& s, int64_t dim) const {
    std::vector<float> to(static_cast<size_t>(count * s.kv_heads * page_keys * dim), std::numeric_limits<float>::quiet_NaN());
    for (int64_t b = 0; b < s.batch; ++b) {
      for (int64_t h = 0; h < s.kv_heads; ++h) {
        for (int64_t key = 0; key < lengths[static_cast<size_t>(b)]; ++key) {
          const int64_t id = table[static_cast<size_t>(b * row_pages + key / page_keys)];
          std::copy_n(from.begin() + ((b * s.kv_heads + h) * s.sk + key) * dim, dim, to.begin() + ((id * s.kv_heads + h) * page_keys + key % page_keys) * dim);
        }
      }
    }
    return to;
  }
  PagedKeys view() {
    const auto batch = static_cast<int64_t>(lengths.size());
    return {Tensor::dense(table.data(), {batch, row_pages}, DType::Int32), Tensor::dense(lengths.data(), {batch}, DType::Int64)};
  }
  void run(const Attention& attention, Data& data, LaunchOptions options = {}) {
    const PagedKeys paged = view();
    options.paged = &paged;
    const Tensor lse = data.lse_view();
    attention.run(data.q_view(), Tensor::dense(k.data(), k_shape), Tensor::dense(v.data(), v_shape), data.o_view(),
                  attention.spec().lse ? &lse : nullptr, options);
  }

  int64_t page_keys, row_pages = 0, count = 0;
  std::vector<int64_t> lengths, k_shape, v_shape;
  std::vector<int32_t> table;
  std::vector<float> k, v;
};

AttentionSpec paged_spec(const Mask& mask, const Shape& shape) {
  AttentionSpec spec = masked(mask, shape.dim);
  spec.value_dim = shape.value_dim, spec.lse = true, spec.queries = 1;
  return spec;
}

/// `allows` sees the length of the batch as sk.
void expect_like_dense(Engine& engine, const Mask& mask, const Shape& shape, int64_t page, const std::vector<int64_t>& lengths, const Allows& allows) {
  SCOPED_TRACE(testing::Message() << mask.text() << ", pages of " << page << ", " << shape.sq << " queries");
  Data data(shape);
  Pages pages(data, page, lengths);
  pages.run(engine.attention(paged_spec(mask, shape)), data);
  const auto within = [&](Pair p) {
    p.sk = lengths[static_cast<size_t>(p.b)];
    return p.k < p.sk && allows(p);
  };
  const double root = std::sqrt(static_cast<double>(shape.dim));
  const Expected expected = judge(data, within, plain, 1 / root);
  EXPECT_LE(distance(data.o, expected.o), 2e-6 * root);
  EXPECT_LE(distance(data.lse, expected.lse), 1e-5);
}

TEST(PagedKeys, MatchKeysInOnePiece) {
  Engine engine(without_disk());
  const Mask aligned = Mask::parse("k <= q + (Sk - Sq)"), window = Mask::parse("q + (Sk - Sq) - k < 100");
  const std::vector<int64_t> lengths = {1000, 1, 0, 513};
  for (const int64_t page : {1, 16, 48, 256}) {
    for (const int64_t rows : {1, 3, 20}) {
      const Shape shape = {4, 6, 2, rows, 1000, 40, 24};
      expect_like_dense(engine, Mask(), shape, page, lengths, [](const Pair&) { return true; });
      expect_like_dense(engine, aligned, shape, page, lengths, [](const Pair& p) { return p.k <= p.q + (p.sk - p.sq); });
      expect_like_dense(engine, window, shape, page, lengths, [](const Pair& p) { return p.q + (p.sk - p.sq) - p.k < 100; });
    }
  }
  EXPECT_EQ(engine.compilations(), 3);
}

/// V = identity and zero scores: every output lists the keys of its sequence, whatever pages they lie in.
TEST(PagedKeys, ProbeListsTheKeysOfEachSequence) {
  Engine engine(without_disk());
  const Shape shape = {3, 2, 1, 1, 200, 16, 200};
  Data data(shape);
  std::fill(data.q.begin(), data.q.end(), 0.0f);
  std::fill(data.v.begin(), data.v.end(), 0.0f);
  for (int64_t b = 0; b < 3; ++b) {
    for (int64_t key = 0; key < 200; ++key) data.v[static_cast<size_t>((b * 200 + key) * 200 + key)] = 1;
  }
  Pages pages(data, 16, {200, 37, 1});
  pages.run(engine.attention(paged_spec(Mask::parse("k % 3 == 0"), shape)), data);
  for (int64_t b = 0; b < 3; ++b) {
    const int64_t length = pages.lengths[static_cast<size_t>(b)], keys = (length + 2) / 3;
    for (int64_t key = 0; key < 200; ++key) {
      const float expected = key < length && key % 3 == 0 ? 1.0f / static_cast<float>(keys) : 0.0f;
      EXPECT_NEAR(data.o[static_cast<size_t>(b * 2 * 200 + key)], expected, 1e-6) << b << ' ' << key;
    }
  }
}

TEST(PagedKeys, StridesOfPagesAreFollowed) {
  Engine engine(without_disk());
  const Shape shape = {2, 4, 2, 1, 300, 32, 32};
  Data data(shape);
  Pages pages(data, 16, {300, 111});
  std::vector<float> k(pages.k.size() + 64), v(k.size());
  const std::vector<int64_t> strides = {2 * 16 * 32, 32, 2 * 32, 1};  // rows of a page hold both heads
  for (int64_t i = 0; i < static_cast<int64_t>(pages.k.size()); ++i) {
    const int64_t page = i / 1024, head = i / 512 % 2, row = i / 32 % 16;
    const auto to = static_cast<size_t>(page * strides[0] + head * strides[1] + row * strides[2] + i % 32);
    k[to] = pages.k[static_cast<size_t>(i)], v[to] = pages.v[static_cast<size_t>(i)];
  }
  const Attention attention = engine.attention(paged_spec(Mask(), shape));
  pages.run(attention, data);
  Data other(shape);
  const PagedKeys paged = pages.view();
  LaunchOptions options;
  options.paged = &paged;
  const Tensor lse = other.lse_view();
  attention.run(other.q_view(), {k.data(), DType::Float32, pages.k_shape, strides}, {v.data(), DType::Float32, pages.v_shape, strides}, other.o_view(), &lse, options);
  EXPECT_EQ(other.o, data.o);
}

/// Runs after a change that must be refused; the message has every one of `parts`.
void expect_refused(const std::function<void(Pages&)>& change, const std::vector<std::string>& parts) {
  static Engine engine(without_disk());
  const Shape shape = {2, 2, 1, 1, 100, 16, 16};
  Data data(shape);
  Pages pages(data, 16, {100, 50});
  change(pages);
  try {
    pages.run(engine.attention(paged_spec(Mask(), shape)), data);
    FAIL() << "not refused";
  } catch (const UserError& error) {
    for (const std::string& part : parts) EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
  EXPECT_TRUE(std::isnan(data.o[0])) << "something was written";
}

TEST(PagedKeys, WhatIsOutOfRangeIsRefusedByName) {
  expect_refused([](Pages& p) { p.table[3] = static_cast<int32_t>(p.count); }, {"pages[0, 3]", std::to_string(17), "0 to 16"});
  expect_refused([](Pages& p) { p.table[7] = -1; }, {"pages[1, 0]", "-1"});
  expect_refused([](Pages& p) { p.lengths[1] = 113; }, {"lengths[1]", "113", "112"});
  expect_refused([](Pages& p) { p.lengths[0] = -5; }, {"lengths[0]", "-5"});
  expect_refused([](Pages& p) { p.lengths.push_back(1), p.table.resize(21); }, {"pages [3, 7]", "batch of 2"});
}

TEST(PagedKeys, EntriesThatNobodyReadsMayBeAnything) {
  Engine engine(without_disk());
  const Shape shape = {2, 2, 1, 1, 100, 16, 16};
  Data data(shape);
  Pages pages(data, 16, {100, 50});
  pages.table[7 + 4] = -1, pages.table[7 + 6] = 1 << 30;
  pages.run(engine.attention(paged_spec(Mask(), shape)), data);
  const Expected expected = judge(data, [](const Pair& p) { return p.k < (p.b ? 50 : 100); }, plain, 0.25);
  EXPECT_LE(distance(data.o, expected.o), 8e-6);
}

}  // namespace
}  // namespace heddle::test
