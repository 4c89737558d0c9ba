// What users of similar tools reported about masks, lengths and rows without keys (ids of the field reports in the names).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heddle/error.h"
#include "test/e2e/index_probe.h"

namespace heddle::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Shape one_head(int64_t sq, int64_t sk, int64_t dim = 16) { return {.batch = 1, .heads = 1, .kv_heads = 1, .sq = sq, .sk = sk, .dim = dim, .value_dim = dim}; }

TEST(FieldReports, R001_RowsWithoutKeysAreZero) {
  Engine engine(without_disk());
  expect_right(engine, masked(Mask::parse("q < 4 && k < 4")), one_head(8, 8, 8), [](const Pair& p) { return p.q < 4 && p.k < 4; });
}

TEST(FieldReports, R002_NoKeysAtAll) {
  Engine engine(without_disk());
  expect_right(engine, masked(Mask()), one_head(3, 0), [](const Pair&) { return true; });
}

TEST(FieldReports, R003_LongerQueryBottomRight) {
  Engine engine(without_disk());
  const Probe found = probe(engine, Mask::parse("q - 3 >= k"), 7, 4);
  for (int64_t q = 0; q < 7; ++q) EXPECT_EQ(found.keys[static_cast<size_t>(q)], range_of(0, std::max<int64_t>(0, q - 2)));
  EXPECT_EQ(found.lse[2], -kInfinity);
}

TEST(FieldReports, R004_HarmlessMasksThatEmptyRowsTogether) {
  Engine engine(without_disk());
  const Probe found = probe(engine, Mask::parse("q >= k && k >= 5"), 8, 8);
  for (int64_t q = 0; q < 8; ++q) EXPECT_EQ(found.keys[static_cast<size_t>(q)], range_of(5, q + 1));
}

TEST(FieldReports, R005_GarbageOfMaskedKeysIsHarmless) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse("k == 0"), 4);
  const Attention attention = engine.attention(spec);
  Data zero(one_head(2, 2, 4));
  for (size_t i = 4; i < 8; ++i) zero.k[i] = zero.v[i] = 0;
  run(attention, zero);
  for (const float garbage : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Data data(one_head(2, 2, 4));
    for (size_t i = 4; i < 8; ++i) data.k[i] = data.v[i] = garbage;
    run(attention, data);
    EXPECT_EQ(data.o, zero.o);
  }
}

TEST(FieldReports, R006_VeryNegativeScores) {
  Engine engine(without_disk());
  AttentionSpec spec;
  spec.head_dim = 1, spec.value_dim = 3, spec.lse = true;
  Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 1, .sk = 3, .dim = 1, .value_dim = 3});
  data.q = {1}, data.k = {-245000, -245001, -245003}, data.v = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  LaunchOptions options;
  options.scale = 1;
  run(engine.attention(spec), data, options);
  // In units of log2 the scores stand at 3.5e5, where floats are 1/32 apart: weights carry that rounding.
  EXPECT_NEAR(data.o[0], 0.7054, 0.03);
  EXPECT_NEAR(data.o[1], 0.2595, 0.03);
  EXPECT_NEAR(data.o[2], 0.0351, 0.01);
  EXPECT_NEAR(data.lse[0], -245000 + 0.349, 0.05);
}

TEST(FieldReports, R008_LengthsThatAreNoMultipleOfTheTile) {
  Engine engine(without_disk());
  for (const int64_t sk : {1, 2, 63, 65, 127, 129, 200, 257}) {
    expect_right(engine, masked(Mask()), one_head(64, sk), [](const Pair&) { return true; });
    expect_right(engine, masked(Mask::causal(Mask::Align::BottomRight)), one_head(64, sk),
                 [](const Pair& p) { return p.q + p.sk - p.sq >= p.k; });
  }
  EXPECT_EQ(engine.compilations(), 2);
}

TEST(FieldReports, R009_ForcedTileSizes) {
  Engine engine(without_disk());
  for (const int64_t rows : {128, 64}) {
    AttentionSpec spec = masked(Mask::parse("q >= k"));
    spec.tile_rows = rows;
    expect_right(engine, spec, one_head(192, 192), [](const Pair& p) { return p.q >= p.k; });
    expect_right(engine, spec, one_head(192, 100), [](const Pair& p) { return p.q >= p.k; });
  }
}

TEST(FieldReports, R013_WindowsCountTheQueryOrNot) {
  Engine engine(without_disk());
  const Probe own = probe(engine, Mask::parse("q >= k && q - k < 4"), 10, 10), inclusive = probe(engine, Mask::parse("q >= k && q - k <= 4"), 10, 10);
  for (int64_t q = 0; q < 10; ++q) {
    EXPECT_EQ(own.keys[static_cast<size_t>(q)], range_of(std::max<int64_t>(0, q - 3), q + 1));
    EXPECT_EQ(inclusive.keys[static_cast<size_t>(q)], range_of(std::max<int64_t>(0, q - 4), q + 1));
  }
}

TEST(FieldReports, R014_AWindowOverEverythingIsCausal) {
  Engine engine(without_disk());
  std::vector<std::vector<float>> outputs;
  for (const char* text : {"q >= k", "q >= k && q - k < 300", "q >= k && q - k <= 299"}) {
    Data data(one_head(300, 300));
    run(engine.attention(masked(Mask::parse(text), 16)), data);
    outputs.push_back(data.o);
  }
  for (size_t i = 0; i < outputs[0].size(); ++i) {
    EXPECT_NEAR(outputs[0][i], outputs[1][i], 2e-6);
    EXPECT_NEAR(outputs[0][i], outputs[2][i], 2e-6);
  }
}

TEST(FieldReports, R015_NothingIsShiftedImplicitly) {
  Engine engine(without_disk());
  EXPECT_EQ(probe(engine, Mask::parse("q >= k"), 2, 5).keys, (std::vector<std::vector<int64_t>>{{0}, {0, 1}}));
  EXPECT_EQ(probe(engine, Mask::parse("q + 3 >= k"), 2, 5).keys, (std::vector<std::vector<int64_t>>{{0, 1, 2, 3}, {0, 1, 2, 3, 4}}));
}

TEST(FieldReports, R016_ChunkedPrefillSeesEarlierKeys) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask::parse("q + off >= k", {{"off", Dynamic{}}}), 16));
  Data whole(one_head(16, 16));
  LaunchOptions options;
  options.ints["off"] = 0;
  run(attention, whole, options);
  for (const int64_t offset : {0, 8}) {
    std::vector<float> o(8 * 16);
    options.ints["off"] = offset;
    attention.run(Tensor::dense(whole.q.data() + offset * 16, {1, 1, 8, 16}), Tensor::dense(whole.k.data(), {1, 1, 8 + offset, 16}),
                  Tensor::dense(whole.v.data(), {1, 1, 8 + offset, 16}), Tensor::dense(o.data(), {1, 1, 8, 16}), nullptr, options);
    for (size_t i = 0; i < o.size(); ++i) EXPECT_NEAR(o[i], whole.o[static_cast<size_t>(offset) * 16 + i], 2e-6);
  }
}

TEST(FieldReports, R017_WhatDependsOnTheQueryAloneCancels) {
  Engine engine(without_disk());
  Data plain_data(one_head(64, 64));
  AttentionSpec spec = masked(Mask(), 16);
  spec.lse = true;
  run(engine.attention(spec), plain_data);
  for (const char* text : {"s + 1", "s - 7", "s + 100 * q"}) {
    spec.score = Score::parse(text);
    Data data(one_head(64, 64));
    run(engine.attention(spec), data);
    const double slope = text[4] == '1' && text[5] == '0' ? 100 : 0, constant = slope != 0 ? 0 : text[2] == '-' ? -7 : 1;
    for (size_t q = 0; q < 64; ++q) {
      const double added = constant + slope * static_cast<double>(q), magnitude = std::max(1.0, std::abs(added));
      EXPECT_NEAR(data.lse[q], plain_data.lse[q] + added, 1e-6 * magnitude);
      for (size_t d = 0; d < 16; ++d) EXPECT_NEAR(data.o[q * 16 + d], plain_data.o[q * 16 + d], 2e-5 + 3e-7 * magnitude);
    }
  }
}

TEST(FieldReports, R018_ShiftedWindowsMaskPairsOfOtherRegions) {
  Engine engine(without_disk());
  // Positions window by window on the rolled 4 x 4 grid; cells of one window attend each other within their region.
  std::vector<int64_t> window(16), region(16);
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t y = i / 8 * 2 + i % 4 / 2, x = i / 4 % 2 * 2 + i % 2;
    window[static_cast<size_t>(i)] = i / 4;
    const auto band = [](int64_t at) { return at < 2 ? 0 : at < 3 ? 1 : 2; };
    region[static_cast<size_t>(i)] = band(y) * 3 + band(x);
  }
  LaunchOptions options;
  options.tables = {{"win", Tensor::dense(window.data(), {16}, DType::Int64)}, {"reg", Tensor::dense(region.data(), {16}, DType::Int64)}};
  const Parameters declared = {{"win", TableOf{DType::Int64}}, {"reg", TableOf{DType::Int64}}};
  const Probe found = probe(engine, Mask::parse("win[q] == win[k] && reg[q] == reg[k]", declared), 16, 16, options);
  std::vector<int64_t> pairs(4);
  for (int64_t q = 0; q < 16; ++q) {
    std::vector<int64_t> keys;
    for (int64_t k = 0; k < 16; ++k) {
      if (window[static_cast<size_t>(q)] == window[static_cast<size_t>(k)] && region[static_cast<size_t>(q)] == region[static_cast<size_t>(k)]) keys.push_back(k);
    }
    EXPECT_EQ(found.keys[static_cast<size_t>(q)], keys);
    pairs[static_cast<size_t>(q / 4)] += static_cast<int64_t>(found.keys[static_cast<size_t>(q)].size());
  }
  EXPECT_EQ(pairs, (std::vector<int64_t>{16, 8, 8, 4}));
}

TEST(FieldReports, R019_WindowsOnCanvasesThatAreNotSquare) {
  Engine engine(without_disk());
  for (const auto& [rows, columns, pairs] : {std::tuple<int64_t, int64_t, int64_t>{4, 6, 160}, {6, 4, 160}, {1, 7, 19}}) {
    const Mask mask = Mask::parse("abs(q / w - k / w) <= 1 && abs(q % w - k % w) <= 1", {{"w", columns}});
    const Probe found = probe(engine, mask, rows * columns, rows * columns);
    EXPECT_EQ(found.pairs(), pairs);
    for (int64_t q = 0; q < rows * columns; ++q) {
      std::vector<int64_t> keys;
      for (int64_t k = 0; k < rows * columns; ++k) {
        if (std::abs(q / columns - k / columns) <= 1 && std::abs(q % columns - k % columns) <= 1) keys.push_back(k);
      }
      EXPECT_EQ(found.keys[static_cast<size_t>(q)], keys);
    }
  }
}

TEST(FieldReports, R020_OneObjectAtEveryLength) {
  Engine engine(without_disk());
  const AttentionSpec spec = masked(Mask::parse("(q >= k && q - k <= 256) || (q >= 4 && k <= 4)"));
  for (const int64_t length : {1500, 1024, 1000}) {
    expect_right(engine, spec, one_head(length, length), [](const Pair& p) { return (p.q >= p.k && p.q - p.k <= 256) || (p.q >= 4 && p.k <= 4); });
  }
  EXPECT_EQ(engine.compilations(), 1);
}

TEST(FieldReports, R026_ModuloIsNeverNegative) {
  Engine engine(without_disk());
  const Probe zero = probe(engine, Mask::parse("(q - k) % 4 == 0"), 9, 9), one = probe(engine, Mask::parse("(q - k) % 4 == 1"), 9, 9);
  EXPECT_EQ(one.keys[0], (std::vector<int64_t>{3, 7}));
  for (int64_t q = 0; q < 9; ++q) {
    std::vector<int64_t> of_zero, of_one;
    for (int64_t k = 0; k < 9; ++k) {
      if (floor_mod(q - k, 4) == 0) of_zero.push_back(k);
      if (floor_mod(q - k, 4) == 1) of_one.push_back(k);
    }
    EXPECT_EQ(zero.keys[static_cast<size_t>(q)], of_zero);
    EXPECT_EQ(one.keys[static_cast<size_t>(q)], of_one);
  }
}

TEST(FieldReports, R035_TheLogSumExpIsNatural) {
  Engine engine(without_disk());
  for (const int64_t keys : {1, 2, 3, 100}) EXPECT_NEAR(probe(engine, Mask(), 2, keys).lse[1], std::log(static_cast<double>(keys)), 1e-5);
  expect_right(engine, masked(Mask()), one_head(30, 40), [](const Pair&) { return true; });
}

TEST(FieldReports, R072_LengthsCompileNothing) {
  Engine engine(without_disk());
  for (int64_t length = 100; length < 100 + 25 * 37; length += 37) {
    expect_right(engine, masked(Mask::parse("q >= k && q - k < 128")), one_head(length, length), [](const Pair& p) { return p.q >= p.k && p.q - p.k < 128; });
  }
  EXPECT_LE(engine.compilations(), 3);
}

TEST(FieldReports, R114_HeadSizesWorkOrAreRefusedWithTheRule) {
  Engine engine(without_disk());
  expect_right(engine, masked(Mask::parse("k <= q")), one_head(40, 40, 224), [](const Pair& p) { return p.k <= p.q; });
  try {
    engine.attention(masked(Mask(), 1000));
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "head_dim is 1000; expected 1 to 256");
  }
}

}  // namespace
}  // namespace heddle::test
