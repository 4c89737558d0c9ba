// What users of similar tools reported about tables, scores, heads and broadcasting (ids of the field reports in the names).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heddle/error.h"
#include "test/codegen/guarded_memory.h"
#include "test/e2e/index_probe.h"
#include "test/e2e/wide_memory.h"

namespace heddle::test {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();
const Parameters kBias = {{"t", TableOf{DType::Float32}}}, kTable = {{"t", TableOf{}}};

Shape heads(int64_t batch, int64_t heads, int64_t kv_heads, int64_t sq, int64_t sk, int64_t dim = 16) {
  return {.batch = batch, .heads = heads, .kv_heads = kv_heads, .sq = sq, .sk = sk, .dim = dim, .value_dim = dim};
}
bool every(const Pair&) { return true; }
size_t at(int64_t index) { return static_cast<size_t>(index); }

LaunchOptions with(const Tensor& table) {
  LaunchOptions options;
  options.tables["t"] = table;
  return options;
}

AttentionSpec scored(const char* text, const Parameters& parameters = kBias) {
  AttentionSpec spec;
  spec.score = Score::parse(text, parameters);
  return spec;
}

TEST(FieldReports, R007_MinusInfinityInABiasMasks) {
  Engine engine(without_disk());
  std::vector<float> bias = normal_values(43 * 43, 4);
  for (size_t i = 0; i < bias.size(); ++i) {
    if (i % 43 >= 40) bias[i] = kNone;
  }
  expect_right(engine, scored("s + t[q, k]"), heads(1, 1, 1, 43, 43, 8), [](const Pair& p) { return p.k < 40; },
               [&](double s, const Pair& p) { return s + bias[at(p.q * 43 + p.k)]; }, with(Tensor::dense(bias.data(), {43, 43})));
}

TEST(FieldReports, R021_EveryCopySeesTheSamePairs) {
  Engine engine(without_disk());
  std::vector<int32_t> doc = {0, 0, 1, 1};
  const Mask mask = Mask::parse("doc[q] == doc[k] && q >= k", {{"doc", TableOf{}}});
  LaunchOptions options;
  options.tables["doc"] = Tensor::dense(doc.data(), {4}, DType::Int32);
  const Probe first = probe(engine, mask, 4, 4, options);
  Engine moved(without_disk());
  const Mask copy = Mask::parse(mask.text(), {{"doc", TableOf{}}});
  EXPECT_EQ(first.pairs(), 6);
  EXPECT_EQ(probe(moved, copy, 4, 4, options).keys, first.keys);
}

TEST(FieldReports, R023_NewTablesCompileNothing) {
  constexpr int64_t kTokens = 262144;
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask::parse("doc[q] == doc[k] && q >= k", {{"doc", TableOf{}}})));
  double best = std::numeric_limits<double>::infinity();
  for (int64_t batch = 0; batch < 100; ++batch) {
    std::vector<int32_t> doc(kTokens);
    for (size_t i = 0; i < doc.size(); ++i) doc[i] = static_cast<int32_t>(i / static_cast<size_t>(100 + batch * 7));
    const Binding binding = attention.bind({.tables = {{"doc", Tensor::dense(doc.data(), {kTokens}, DType::Int32)}}, .sq = kTokens, .sk = kTokens});
    best = std::min(best, binding.milliseconds());
    EXPECT_GT(binding.full_tiles() + binding.partial_tiles(), kTokens / 64);
  }
  EXPECT_EQ(engine.compilations(), 1);
  EXPECT_LE(best, 60);  // 20 on two free cores, which bench/bind_bench measures
}

TEST(FieldReports, R024_ListsAreSharedByHeadsThatTheMaskDoesNotTellApart) {
  Engine engine(without_disk());
  std::vector<int32_t> doc(8192);
  for (size_t i = 0; i < doc.size(); ++i) doc[i] = static_cast<int32_t>(i / 300);
  const Attention attention = engine.attention(masked(Mask::parse("doc[q] == doc[k]", {{"doc", TableOf{}}})));
  const std::map<std::string, Tensor> tables = {{"doc", Tensor::dense(doc.data(), {8192}, DType::Int32)}};
  const Binding one = attention.bind({.tables = tables, .sq = 8192, .sk = 8192});
  const Binding many = attention.bind({.tables = tables, .batch = 8, .heads = 64, .kv_heads = 64, .sq = 8192, .sk = 8192});
  EXPECT_EQ(one.bytes(), many.bytes());
}

TEST(FieldReports, R027_ReadsNeverLeaveTheTable) {
  Engine engine(without_disk());
  GuardedArray<int32_t> end(2, Rim::End), begin(2, Rim::Begin);
  for (GuardedArray<int32_t>* values : {&end, &begin}) {
    (*values)[0] = 5, (*values)[1] = 7;
    LaunchOptions options;
    options.tables["t"] = Tensor::dense(values->data(), {2}, DType::Int32);
    EXPECT_THROW(probe(engine, Mask::parse("t[2] == 5", kTable), 6, 1, options), UserError);
    // Where the index comes from another table nothing is decided: what leaves the table reads its nearest element.
    std::vector<int32_t> index = {-1, 0, 1, 2, INT32_MAX, INT32_MIN};
    options.tables["u"] = Tensor::dense(index.data(), {6}, DType::Int32);
    const Probe found = probe(engine, Mask::parse("t[u[q]] == 5", {{"t", TableOf{}}, {"u", TableOf{}}}), 6, 1, options);
    for (int64_t q = 0; q < 6; ++q) EXPECT_EQ(found.keys[at(q)].size(), index[at(q)] <= 0 ? 1u : 0u) << q;
  }
}

TEST(FieldReports, R027_AGuardedReadStaysInsideAShorterTable) {
  Engine engine(without_disk());
  GuardedArray<int32_t> keys(5, Rim::End), rows(3, Rim::End);
  std::fill(keys.begin(), keys.end(), 1), std::fill(rows.begin(), rows.end(), 1);
  keys[2] = rows[1] = 0;
  LaunchOptions options;
  options.tables = {{"keys", Tensor::dense(keys.data(), {5}, DType::Int32)}, {"rows", Tensor::dense(rows.data(), {3}, DType::Int32)}};
  const Shape shape = heads(1, 1, 1, 9000, 9000);  // far past the page behind the tables
  const Parameters declared = {{"keys", TableOf{}}, {"rows", TableOf{}}};
  for (const bool nests : {true, false}) {
    AttentionSpec spec = masked(Mask::parse("k < 5 && keys[k] == 1 && q < 3 && rows[q] == 1", declared), 16);
    spec.use_nests = nests;
    Data data(shape);
    run(engine.attention(spec), data, options);
    for (int64_t q = 0; q < shape.sq; ++q) EXPECT_EQ(data.o[at(q * 16)] != 0, q == 0 || q == 2) << q;
  }
}

TEST(FieldReports, R030_AFlattenedIndexPast31Bits) {
  Engine engine(without_disk());
  constexpr int64_t kFar = 3'000'000'000, kHead = 1'000'000;
  WideMemory memory(kFar + kHead + 32 * 32);
  const Tensor table{memory.data(), DType::Float32, {2, 2, 32, 32}, {kFar, kHead, 32, 1}};
  const std::vector<float> values = normal_values(2 * 2 * 32 * 32, 9);
  for (int64_t i = 0; i < 4096; ++i) memory.data()[i / 2048 * kFar + i / 1024 % 2 * kHead + i % 1024] = values[at(i)];
  expect_right(engine, scored("s + t[b][h][q][k]"), heads(2, 2, 1, 32, 32), every,
               [&](double s, const Pair& p) { return s + values[at(((p.b * 2 + p.h) * 32 + p.q) * 32 + p.k)]; }, with(table));
}

TEST(FieldReports, R031_ALargeBatchStrideIsNoReasonToRefuse) {
  Engine engine(without_disk());
  constexpr int64_t kBatch = 148'401'120, kRow = 12'184;
  WideMemory memory(31 * kBatch + 12 * kRow);
  const std::vector<float> values = normal_values(32 * 144, 2);
  for (int64_t i = 0; i < 32 * 144; ++i) memory.data()[i / 144 * kBatch + i / 12 % 12 * kRow + i % 12] = values[at(i)];
  expect_right(engine, scored("s + t[b, q, k]"), heads(32, 1, 1, 12, 12), every,
               [&](double s, const Pair& p) { return s + values[at((p.b * 12 + p.q) * 12 + p.k)]; },
               with({memory.data(), DType::Float32, {32, 12, 12}, {kBatch, kRow, 1}}));
}

TEST(FieldReports, R042_R043_EveryCapMatters) {
  Engine engine(without_disk());
  std::vector<std::vector<float>> outputs;
  for (const double cap : {0.0, 15.0, 50.0, 5.0}) {
    const AttentionSpec spec = cap == 0 ? AttentionSpec{} : scored("c * tanh(s / c)", {{"c", cap}});
    for (const int64_t rows : {64, 1}) {
      LaunchOptions options;
      options.scale = 10;
      const Shape shape = heads(1, 1, 1, rows, 64);
      const Scores capped = [cap](double s, const Pair&) { return cap == 0 ? s : cap * std::tanh(s / cap); };
      Data data(shape);
      AttentionSpec sized = spec;
      sized.head_dim = sized.value_dim = 16;
      run(engine.attention(sized), data, options);
      EXPECT_LE(distance(data.o, judge(data, every, capped, 10).o), 2e-5);
      outputs.push_back(data.o);
    }
  }
  for (size_t a = 0; a < outputs.size(); ++a) {
    for (size_t b = a + 2; b < outputs.size(); b += 2) {
      double largest = 0;
      for (size_t i = 0; i < outputs[a].size(); ++i) largest = std::max(largest, std::abs(double{outputs[a][i]} - outputs[b][i]));
      EXPECT_GT(largest, 1e-2) << a << " and " << b;
    }
  }
}

TEST(FieldReports, R047_TransposedViewsGiveTheSameBits) {
  Engine engine(without_disk());
  for (const int64_t dim : {64, 256}) {
    Data dense(heads(2, 3, 3, 40, 40, dim));
    const Attention attention = engine.attention(masked(Mask::parse("k <= q"), dim));
    run(attention, dense);
    const auto transposed = [&](const std::vector<float>& from) {
      std::vector<float> to(from.size());
      for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i) {
        const int64_t d = i % dim, s = i / dim % 40, h = i / dim / 40 % 3, b = i / dim / 40 / 3;
        to[at(((b * 40 + s) * 3 + h) * dim + d)] = from[at(i)];
      }
      return to;
    };
    std::vector<float> q = transposed(dense.q), k = transposed(dense.k), v = transposed(dense.v), o(dense.o.size());
    const auto view = [&](std::vector<float>& values) { return Tensor::dense(values.data(), {2, 40, 3, dim}).transposed({0, 2, 1, 3}); };
    attention.run(view(q), view(k), view(v), view(o));
    EXPECT_EQ(o, transposed(dense.o));
  }
}

TEST(FieldReports, R048_StridesAreFollowedOrRefusedByName) {
  Engine engine(without_disk());
  const Attention attention = engine.attention(masked(Mask(), 16));
  Data data(heads(1, 1, 1, 8, 8));
  std::vector<float> wide(8 * 32);
  const Tensor odd{wide.data(), DType::Float32, {1, 1, 8, 16}, {256, 256, 32, 2}};
  try {
    attention.run(odd, data.k_view(), data.v_view(), data.o_view());
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_NE(error.message().find("q [1, 1, 8, 16]"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("2"), std::string::npos) << error.message();
  }
  Tensor same_rows = data.v_view();
  same_rows.strides[2] = 0;
  attention.run(data.q_view(), data.k_view(), same_rows, data.o_view());
  for (size_t i = 0; i < data.o.size(); ++i) EXPECT_NEAR(data.o[i], data.v[i % 16], 1e-6);
}

TEST(FieldReports, R049_BiasesNeedNoPadding) {
  Engine engine(without_disk());
  std::vector<float> compact = normal_values(43 * 43, 5), sliced(48 * 48, std::numeric_limits<float>::quiet_NaN()), transposed(43 * 43);
  for (int64_t i = 0; i < 43 * 43; ++i) sliced[at(i / 43 * 48 + i % 43)] = transposed[at(i % 43 * 43 + i / 43)] = compact[at(i)];
  const Tensor views[] = {Tensor::dense(compact.data(), {43, 43}), {sliced.data(), DType::Float32, {43, 43}, {48, 1}},
                          {transposed.data(), DType::Float32, {43, 43}, {1, 43}}};
  std::vector<std::vector<float>> outputs;
  for (const Tensor& view : views) {
    Data data(heads(1, 1, 1, 43, 43, 64));
    run(engine.attention(scored("s + t[q, k]")), data, with(view));
    outputs.push_back(data.o);
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  EXPECT_EQ(outputs[0], outputs[2]);
}

TEST(FieldReports, R050_AnyNumberOfQueryHeadsAKeyHead) {
  Engine engine(without_disk());
  for (const int64_t group : {6, 3, 5, 7}) expect_right(engine, masked(Mask()), heads(1, 2 * group, 2, 1, 4096), every);
}

TEST(FieldReports, R051_ScoresSeeTheQueryHead) {
  Engine engine(without_disk());
  const std::vector<float> slopes = {0.5f, 0.25f, -0.1f, 0.7f, 0.01f, -0.3f};
  expect_right(engine, scored("s - t[h] * (q - k)"), heads(1, 6, 2, 40, 40), every,
               [&](double s, const Pair& p) { return s - slopes[at(p.h)] * static_cast<double>(p.q - p.k); },
               with(Tensor::dense(const_cast<float*>(slopes.data()), {6})));
}

TEST(FieldReports, R052_FewerKeyHeadsOrARefusalNamingBoth) {
  Engine engine(without_disk());
  expect_right(engine, masked(Mask()), heads(1, 4, 2, 20, 20), every);
  expect_right(engine, masked(Mask()), heads(1, 4, 1, 20, 20), every);
  Data data(heads(1, 4, 3, 20, 20));
  try {
    run(engine.attention(masked(Mask(), 16)), data);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_NE(error.message().find('4'), std::string::npos) << error.message();
    EXPECT_NE(error.message().find('3'), std::string::npos) << error.message();
  }
}

TEST(FieldReports, R053_EveryBatchItemIsComputed) {
  Engine engine(without_disk());
  Data data(heads(2, 1, 1, 2, 2));
  for (std::vector<float>* values : {&data.q, &data.k, &data.v}) std::copy_n(values->begin(), 32, values->begin() + 32);
  run(engine.attention(masked(Mask::parse("k < 100 && q >= k"), 16)), data);
  EXPECT_TRUE(std::equal(data.o.begin(), data.o.begin() + 32, data.o.begin() + 32));
  EXPECT_NE(data.o[32], 0);
}

TEST(FieldReports, R054_KeyPaddingOfABatchIsNotExpanded) {
  Engine engine(without_disk());
  std::vector<uint8_t> keys(4 * 32);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i % 32 < 8 * (i / 32 + 1) && i % 5 != 0;
  const Mask mask = Mask::parse("t[b][k] != 0", {{"t", TableOf{DType::UInt8}}});
  expect_right(engine, masked(mask), heads(4, 4, 4, 32, 32), [&](const Pair& p) { return keys[at(p.b * 32 + p.k)] != 0; }, plain,
               with(Tensor::dense(keys.data(), {4, 32}, DType::UInt8)));
}

TEST(FieldReports, R055_BiasesBroadcastOverDimensionsOfOne) {
  Engine engine(without_disk());
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 1, 9, 1}, {1, 3, 1, 1}, {1, 1, 1, 1}}) {
    const int64_t count = shape[0] * shape[1] * shape[2] * shape[3];
    GuardedArray<float> values(at(count));
    std::ranges::copy(normal_values(count, 3), values.begin());
    const auto element = [&](const Pair& p) {
      return values[at(((shape[0] > 1 ? p.b : 0) * shape[1] + (shape[1] > 1 ? p.h : 0)) * shape[2] + (shape[2] > 1 ? p.q : 0))];
    };
    expect_right(engine, scored("s + t[b, h, q, k]"), heads(2, 3, 1, 9, 11), every, [&](double s, const Pair& p) { return s + element(p); },
                 with(Tensor::dense(values.data(), shape)));
  }
}

TEST(FieldReports, R056_TablesOfRankThreeAreAddressedByName) {
  Engine engine(without_disk());
  std::vector<uint8_t> bits(3 * 9 * 9);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = i * 7 % 3 != 0;
  const Parameters declared = {{"t", TableOf{DType::UInt8}}};
  const AttentionSpec by_batch = masked(Mask::parse("t[b, q, k] == 1", declared)), by_head = masked(Mask::parse("t[h, q, k] == 1", declared));
  expect_right(engine, by_batch, heads(3, 4, 4, 9, 9), [&](const Pair& p) { return bits[at(p.q * 9 + p.k)] == 1; }, plain,
               with(Tensor::dense(bits.data(), {1, 9, 9}, DType::UInt8)));
  for (const bool batch : {true, false}) {
    expect_right(engine, batch ? by_batch : by_head, heads(3, 3, 3, 9, 9),
                 [&](const Pair& p) { return bits[at(((batch ? p.b : p.h) * 9 + p.q) * 9 + p.k)] == 1; }, plain,
                 with(Tensor::dense(bits.data(), {3, 9, 9}, DType::UInt8)));
  }
}

TEST(FieldReports, R113_TablesOfTheWrongShapeAreRefused) {
  Engine engine(without_disk());
  const AttentionSpec spec = masked(Mask::parse("t[q, k] != 0", kTable), 16);
  std::vector<int32_t> values(400, 1);
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{10, 15}, {10, 25}, {8, 20}, {20, 10}}) {
    Data data(heads(1, 1, 1, 10, 20));
    try {
      run(engine.attention(spec), data, with(Tensor::dense(values.data(), {rows, columns}, DType::Int32)));
      FAIL() << "no error";
    } catch (const UserError& error) {
      for (const std::string& part : {std::string("'t'"), std::string("[10, 20]"), "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]"}) {
        EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
      }
      EXPECT_TRUE(std::isnan(data.o[0])) << "something was launched";
    }
  }
}

TEST(FieldReports, R115_MessagesAreShortAndPoint) {
  Engine engine(without_disk());
  const auto message = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const UserError& error) {
      return error.what();
    }
    return {};
  };
  Data data(heads(1, 1, 1, 8, 8));
  const Attention attention = engine.attention(masked(Mask(), 16));
  const auto run_with = [&](const Tensor& q) {
    return message([&] { attention.run(q, data.k_view(), data.v_view(), data.o_view()); });
  };
  Tensor doubles = data.q_view(), flat = Tensor::dense(data.q.data(), {8, 16});
  doubles.dtype = DType::Float64;
  const std::pair<std::string, std::string> cases[] = {{run_with(doubles), "q is float64"},
                                                       {run_with(flat), "q [8, 16] has 2 dimensions"},
                                                       {message([] { Mask::parse("k <= qq"); }), "\n       ^^"},
                                                       {message([] { Mask::parse("(k <= q"); }), "\n  ^"}};
  for (const auto& [text, part] : cases) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 9) << text;
  }
}

TEST(FieldReports, R073_TheLastSmallerBatch) {
  Engine engine(without_disk());
  const std::vector<int32_t> lengths = {1, 2, 3, 5, 8, 13, 21, 34};
  for (const int64_t batch : {8, 8, 8, 3}) {
    expect_right(engine, masked(Mask::parse("q < t[b] ? q >= k : true", {{"t", TableOf{}}})), heads(batch, 2, 1, 30, 30),
                 [&](const Pair& p) { return p.q < lengths[at(p.b)] ? p.q >= p.k : true; }, plain,
                 with(Tensor::dense(const_cast<int32_t*>(lengths.data()), {batch}, DType::Int32)));
  }
  EXPECT_EQ(engine.compilations(), 1);
}

}  // namespace
}  // namespace heddle::test
