// Probabilities as compressed rows through the public API, against the definition in float64.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "heddle/error.h"
#include "test/e2e/attention_fixture.h"

namespace heddle::test {
namespace {

/// A launch with compressed rows of `extra` slots more than needed, full of NaN before.
struct ProbabilityRun {
  ProbabilityRun(const Attention& attention, const Shape& shape, std::map<std::string, int64_t> ints = {}, int64_t extra = 3)
      : data(shape), layout(attention.acsr_layout({shape.batch, shape.heads, shape.kv_heads, shape.sq, shape.sk, ints})),
        width(layout.width() + extra),
        values(static_cast<size_t>(shape.batch * shape.heads * shape.sq * width), std::numeric_limits<float>::quiet_NaN()),
        dense(static_cast<size_t>(shape.batch * shape.heads * shape.sq * shape.sk), std::numeric_limits<float>::quiet_NaN()) {
    const Tensor rows = values_view();
    LaunchOptions options;
    options.ints = std::move(ints), options.probabilities = &rows;
    run(attention, data, options);
    layout.to_dense(rows, Tensor::dense(dense.data(), {shape.batch, shape.heads, shape.sq, shape.sk}));
  }
  Tensor values_view() { return Tensor::dense(values.data(), {data.shape.batch, data.shape.heads, data.shape.sq, width}); }

  Data data;
  AcsrLayout layout;
  int64_t width;
  std::vector<float> values, dense;
};

/// exp(score - LSE) of every pair, 0 at masked ones.
std::vector<double> probabilities(const Data& data, const Allows& allows, const Expected& expected, double scale) {
  const Shape& s = data.shape;
  std::vector<double> all;
  for (int64_t row = 0; row < s.batch * s.heads * s.sq; ++row) {
    const int64_t b = row / s.sq / s.heads, h = row / s.sq % s.heads, q = row % s.sq, kv = b * s.kv_heads + h / (s.heads / s.kv_heads);
    for (int64_t k = 0; k < s.sk; ++k) {
      double dot = 0;
      for (int64_t d = 0; d < s.dim; ++d) {
        dot += static_cast<double>(data.q[static_cast<size_t>(row * s.dim + d)]) * data.k[static_cast<size_t>((kv * s.sk + k) * s.dim + d)];
      }
      all.push_back(allows({b, h, q, k, s.sq, s.sk}) ? std::exp(scale * dot - expected.lse[static_cast<size_t>(row)]) : 0);
    }
  }
  return all;
}

struct MaskCase {
  std::string text;
  Allows allows;
};

const std::vector<MaskCase>& cases() {
  static const std::vector<MaskCase> list = {
      {"true", [](const Pair&) { return true; }},
      {"k <= q", [](const Pair& p) { return p.k <= p.q; }},
      {"k <= q && q - k < 37", [](const Pair& p) { return p.k <= p.q && p.q - p.k < 37; }},
      {"k <= q + Sk - Sq", [](const Pair& p) { return p.k <= p.q + p.sk - p.sq; }},
      {"abs(q - k) <= 20 || k < 5 || q < 3", [](const Pair& p) { return std::abs(p.q - p.k) <= 20 || p.k < 5 || p.q < 3; }},
      {"q / 24 == k / 24", [](const Pair& p) { return p.q / 24 == p.k / 24; }},
      {"(q - k) % 5 == 0 && k <= q", [](const Pair& p) { return floor_mod(p.q - p.k, 5) == 0 && p.k <= p.q; }},
      {"h == 1 ? k < 9 : k >= q", [](const Pair& p) { return p.h == 1 ? p.k < 9 : p.k >= p.q; }},
      {"q >= 40 && k >= 70", [](const Pair& p) { return p.q >= 40 && p.k >= 70; }},
  };
  return list;
}

void expect_probabilities(Engine& engine, const MaskCase& mask, const Shape& shape) {
  AttentionSpec spec = masked(Mask::parse(mask.text), shape.dim);
  spec.value_dim = shape.value_dim, spec.lse = true, spec.probabilities = true;
  ProbabilityRun found(engine.attention(spec), shape);
  const double root = std::sqrt(static_cast<double>(shape.dim));
  const Expected expected = judge(found.data, mask.allows, plain, 1 / root);
  SCOPED_TRACE(fmt::format("{} at {} x {} for {}", mask.text, shape.sq, shape.sk, engine.target().to_string()));
  EXPECT_LE(distance(found.data.o, expected.o), 2e-6 * root);
  EXPECT_LE(distance(found.data.lse, expected.lse), 1e-5);
  EXPECT_LE(distance(found.dense, probabilities(found.data, mask.allows, expected, 1 / root)), 4e-6);
  for (int64_t row = 0; row < shape.batch * shape.heads * shape.sq; ++row) {  // slots past a row's keys are zeros
    const int64_t count = found.layout.count(row % shape.sq, row / shape.sq / shape.heads, row / shape.sq % shape.heads);
    for (int64_t i = count; i < found.width; ++i) ASSERT_EQ(found.values[static_cast<size_t>(row * found.width + i)], 0) << row << " " << i;
  }
}

TEST(Probabilities, EqualTheDefinitionForEveryMask) {
  for (const Target& target : Target::all()) {
    if (!target.runs_here()) continue;
    EngineOptions options = without_disk();
    options.target = target;
    Engine engine(options);
    for (const MaskCase& mask : cases()) {
      expect_probabilities(engine, mask, {.batch = 2, .heads = 2, .kv_heads = 1, .sq = 75, .sk = 109, .dim = 20, .value_dim = 11});
      expect_probabilities(engine, mask, {.batch = 1, .heads = 2, .kv_heads = 2, .sq = 1, .sk = 1, .dim = 20, .value_dim = 11});
    }
    expect_probabilities(engine, cases()[2], {.batch = 1, .heads = 3, .kv_heads = 1, .sq = 400, .sk = 400, .dim = 64, .value_dim = 64});
  }
}

TEST(Probabilities, ParametersChangeTheLayoutAndCompileNothing) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse("k <= q && q - k < kw", {{"kw", Dynamic{}}}), 16);
  spec.probabilities = true;
  const Attention attention = engine.attention(spec);
  const Shape shape{.batch = 1, .heads = 1, .kv_heads = 1, .sq = 90, .sk = 90, .dim = 16, .value_dim = 16};
  for (int64_t w : {1, 7, 64, 500}) {
    const ProbabilityRun found(attention, shape, {{"kw", w}});
    EXPECT_EQ(found.layout.width(), std::min<int64_t>(w, 90));
    for (int64_t q = 0; q < 90; ++q) {
      double sum = 0;
      for (int64_t k = 0; k < 90; ++k) sum += found.dense[static_cast<size_t>(q * 90 + k)];
      EXPECT_NEAR(sum, 1, 1e-5) << w << " " << q;
      EXPECT_EQ(found.layout.keys(q).front(), std::max<int64_t>(0, q - w + 1));
    }
  }
  EXPECT_EQ(engine.compilations(), 1);
}

TEST(Probabilities, RowsWithoutKeysAreZero) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse("k + 50 <= q"), 8);
  spec.probabilities = spec.lse = true;
  ProbabilityRun found(engine.attention(spec), {.batch = 1, .heads = 1, .kv_heads = 1, .sq = 60, .sk = 60, .dim = 8, .value_dim = 8});
  EXPECT_EQ(found.layout.width(), 10);
  EXPECT_TRUE(found.layout.keys(49).empty());
  EXPECT_EQ(found.data.lse[49], -std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < 50 * found.width; ++i) EXPECT_EQ(found.values[static_cast<size_t>(i)], 0);
  for (int64_t i = 0; i < 50 * 8; ++i) EXPECT_EQ(found.data.o[static_cast<size_t>(i)], 0);
}

TEST(Probabilities, WrongUseIsRefusedBeforeAnythingIsWritten) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse("k <= q"), 8);
  const Attention plain_kernel = engine.attention(spec);
  spec.probabilities = true;
  const Attention attention = engine.attention(spec);
  const Shape shape{.batch = 1, .heads = 1, .kv_heads = 1, .sq = 10, .sk = 10, .dim = 8, .value_dim = 8};
  Data data(shape);
  const std::vector<float> untouched(1000, 7);
  std::vector<float> values = untouched;
  const auto message = [&](const Attention& kernel, const Tensor* rows) {
    LaunchOptions options;
    options.probabilities = rows;
    try {
      run(kernel, data, options);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const Tensor fits = Tensor::dense(values.data(), {1, 1, 10, 10}), narrow = Tensor::dense(values.data(), {1, 1, 10, 9});
  const Tensor rows = Tensor::dense(values.data(), {1, 1, 9, 10}), halves = Tensor::dense(values.data(), {1, 1, 10, 10}, DType::Float16);
  EXPECT_NE(message(attention, nullptr).find("probabilities are missing"), std::string::npos);
  EXPECT_NE(message(plain_kernel, &fits).find("does not write them"), std::string::npos);
  EXPECT_NE(message(attention, &narrow).find("9 slots a row; the longest row of this launch has 10"), std::string::npos) << message(attention, &narrow);
  EXPECT_NE(message(attention, &rows).find("does not fit"), std::string::npos);
  EXPECT_NE(message(attention, &halves).find("float16"), std::string::npos);
  EXPECT_EQ(values, untouched);
  EXPECT_THROW(plain_kernel.acsr_layout({.sq = 4, .sk = 4}), UserError);
  EXPECT_THROW(attention.acsr_layout({.sq = -1, .sk = 4}), UserError);
  EXPECT_THROW(attention.acsr_layout({.sq = 4, .sk = 4}).keys(4), UserError);
  EXPECT_THROW(engine.attention({.mask = Mask::parse("q * k % 7 == 3"), .head_dim = 8, .probabilities = true}), UserError);
}

}  // namespace
}  // namespace heddle::test
