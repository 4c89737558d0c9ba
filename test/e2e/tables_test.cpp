// Tables end to end: masks and scores that read them, bound and launched, equal to predicates in plain C++.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "test/e2e/attention_fixture.h"

namespace heddle::test {
namespace {

/// Ids of documents of random lengths, ascending.
std::vector<int32_t> documents(int64_t tokens, int64_t longest, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> ids;
  for (int32_t id = 0; static_cast<int64_t>(ids.size()) < tokens; ++id) {
    const size_t length = std::uniform_int_distribution<size_t>(1, static_cast<size_t>(longest))(random);
    ids.insert(ids.end(), std::min(length, static_cast<size_t>(tokens) - ids.size()), id);
  }
  return ids;
}

template <class T>
Tensor table(const std::vector<T>& values, std::vector<int64_t> shape = {}) {
  constexpr DType kType = std::is_same_v<T, float> ? DType::Float32 : sizeof(T) == 1 ? DType::UInt8 : sizeof(T) == 4 ? DType::Int32 : DType::Int64;
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return Tensor::dense(const_cast<T*>(values.data()), std::move(shape), kType);
}

size_t at(int64_t index) { return static_cast<size_t>(index); }

TEST(Tables, PackedDocuments) {
  Engine engine(without_disk());
  const std::vector<int32_t> doc = documents(700, 150, 1);
  AttentionSpec spec = masked(Mask::parse("doc[q] == doc[k] && k <= q", {{"doc", TableOf{}}}));
  LaunchOptions options;
  options.tables["doc"] = table(doc);
  const Allows allows = [&](const Pair& p) { return doc[at(p.q)] == doc[at(p.k)] && p.k <= p.q; };
  for (const bool nests : {true, false}) {
    spec.use_nests = nests;
    expect_right(engine, spec, {.batch = 1, .heads = 2, .kv_heads = 1, .sq = 700, .sk = 700, .dim = 40, .value_dim = 24}, allows, plain, options);
  }
}

TEST(Tables, EveryElementTypeInMasks) {
  Engine engine(without_disk());
  const Shape shape{.batch = 1, .heads = 2, .kv_heads = 2, .sq = 90, .sk = 110};
  const std::vector<int64_t> wide = {INT64_MIN, 5, INT64_MAX, -1, 7};
  const std::vector<int32_t> narrow = {INT32_MIN, INT32_MAX, 3, 0};
  const std::vector<uint8_t> bytes = {0, 255, 1, 2, 1, 0, 9};
  const Mask mask = Mask::parse("wide[q % 5] <= narrow[k % 4] || bytes[(q + k) % 7] > 100 || flag[(q + 3 * k) % 7] == 1",
                                {{"wide", TableOf{DType::Int64}}, {"narrow", TableOf{}}, {"bytes", TableOf{DType::UInt8}}, {"flag", TableOf{DType::Bool}}});
  Tensor flags = table(bytes);
  flags.dtype = DType::Bool;
  LaunchOptions options;
  options.tables = {{"wide", table(wide)}, {"narrow", table(narrow)}, {"bytes", table(bytes)}, {"flag", flags}};
  expect_right(engine, masked(mask), shape, [&](const Pair& p) {
    return wide[at(p.q % 5)] <= narrow[at(p.k % 4)] || bytes[at((p.q + p.k) % 7)] > 100 || bytes[at((p.q + 3 * p.k) % 7)] != 0;
  }, plain, options);
}

TEST(Tables, ByBatchAndHead) {
  Engine engine(without_disk());
  const std::vector<int32_t> lengths = {100, 0, 37}, first = {0, 20};
  LaunchOptions options;
  options.tables = {{"len", table(lengths)}, {"first", table(first)}};
  const Mask mask = Mask::parse("k < len[b] && k >= first[h]", {{"len", TableOf{}}, {"first", TableOf{}}});
  expect_right(engine, masked(mask), {.batch = 3, .heads = 2, .kv_heads = 1, .sq = 65, .sk = 100},
               [&](const Pair& p) { return p.k < lengths[at(p.b)] && p.k >= first[at(p.h)]; }, plain, options);
}

TEST(Tables, BiasesByAnyCoordinates) {
  Engine engine(without_disk());
  const Shape s{.batch = 2, .heads = 3, .kv_heads = 1, .sq = 37, .sk = 53};
  const std::vector<float> full = normal_values(s.batch * s.heads * s.sq * s.sk, 5), rel = normal_values(s.heads * (s.sq + s.sk - 1), 6),
                           slopes = {0.1f, -0.3f, 0.7f}, keys = normal_values(s.sk, 8), rows = normal_values(s.sq, 9);
  const Parameters declared = {{"full", TableOf{DType::Float32}}, {"rel", TableOf{DType::Float32}}, {"slope", TableOf{DType::Float32}},
                               {"key", TableOf{DType::Float32}}, {"row", TableOf{DType::Float32}}};
  AttentionSpec spec;
  spec.score = Score::parse("s + full[b, h, q, k] + rel[h, q - k + Sk - 1] - slope[h] * abs(q - k) + key[k] + row[q]", declared);
  LaunchOptions options;
  options.tables = {{"full", table(full, {s.batch, s.heads, s.sq, s.sk})}, {"rel", table(rel, {s.heads, s.sq + s.sk - 1})}, {"slope", table(slopes)},
                    {"key", table(keys)}, {"row", table(rows)}};
  const Scores scores = [&](double score, const Pair& p) {
    return score + full[at(((p.b * s.heads + p.h) * s.sq + p.q) * s.sk + p.k)] + rel[at(p.h * (s.sq + s.sk - 1) + p.q - p.k + s.sk - 1)] -
           slopes[at(p.h)] * std::abs(static_cast<double>(p.q - p.k)) + keys[at(p.k)] + rows[at(p.q)];
  };
  expect_right(engine, spec, s, [](const Pair&) { return true; }, scores, options);
  spec.mask = Mask::parse("k <= q + 20");
  expect_right(engine, spec, s, [](const Pair& p) { return p.k <= p.q + 20; }, scores, options);
}

TEST(Tables, RawMatrixAsATable) {
  Engine engine(without_disk());
  std::mt19937 random(3);
  const int64_t sq = 150, sk = 130;
  std::vector<uint8_t> bits(at(sq * sk));
  for (uint8_t& bit : bits) bit = random() % 5 == 0;
  std::fill_n(bits.begin(), 40 * sk, uint8_t{0});
  LaunchOptions options;
  options.tables["m"] = table(bits, {sq, sk});
  expect_right(engine, masked(Mask::parse("m[q, k] != 0", {{"m", TableOf{DType::UInt8}}})), {.sq = sq, .sk = sk},
               [&](const Pair& p) { return bits[at(p.q * sk + p.k)] != 0; }, plain, options);
}

TEST(Tables, NewContentsCompileNothing) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask::parse("doc[q] == doc[k] && k <= q", {{"doc", TableOf{}}})));
  for (uint32_t seed = 0; seed < 5; ++seed) {
    const std::vector<int32_t> doc = documents(200 + seed, 60, seed);
    Data data({.batch = 1, .heads = 2, .kv_heads = 1, .sq = 200 + seed, .sk = 200 + seed});
    BindOptions bind;
    bind.tables["doc"] = table(doc);
    bind.heads = 2, bind.sq = bind.sk = 200 + seed;
    const Binding binding = attention.bind(bind);
    LaunchOptions options;
    options.binding = &binding;
    run(attention, data, options);
    const Expected expected = judge(data, [&](const Pair& p) { return doc[at(p.q)] == doc[at(p.k)] && p.k <= p.q; }, plain, 1 / 8.0);
    EXPECT_LE(distance(data.o, expected.o), 2e-6 * 8);
  }
  EXPECT_EQ(engine.compilations(), 1);
}

}  // namespace
}  // namespace heddle::test
