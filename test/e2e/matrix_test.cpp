// Raw boolean matrices through the public API: found formulas compile to their kernels, other matrices run as tables.
#include <gtest/gtest.h>

#include <chrono>

#include "heddle/error.h"
#include "heddle/matrix.h"
#include "test/e2e/attention_fixture.h"

namespace heddle::test {
namespace {

struct Bytes {
  Bytes(int64_t queries, int64_t keys, const std::function<bool(int64_t, int64_t)>& allowed) : sq(queries), sk(keys) {
    for (int64_t q = 0; q < sq; ++q) {
      for (int64_t k = 0; k < sk; ++k) data.push_back(allowed(q, k));
    }
  }
  Tensor view() { return Tensor::dense(data.data(), {sq, sk}, DType::UInt8); }
  Allows allows() const {
    return [this](const Pair& p) { return data[static_cast<size_t>(p.q * sk + p.k)] != 0; };
  }
  int64_t sq, sk;
  std::vector<uint8_t> data;
};

Shape shape_of(const Bytes& bytes) {
  return {.batch = 2, .heads = 2, .kv_heads = 1, .sq = bytes.sq, .sk = bytes.sk, .dim = 16, .value_dim = 16};
}

/// Runs the matrix and, where it has a formula, finds the kernel of the formula in memory.
void expect_right_matrix(Bytes bytes, MatrixMask::Form form) {
  Engine engine(without_disk());
  const MatrixMask found = recognize(bytes.view());
  EXPECT_EQ(found.form(), form) << found.text();
  AttentionSpec spec;
  spec.matrix = found;
  expect_right(engine, spec, shape_of(bytes), bytes.allows());
  EXPECT_EQ(engine.compilations(), 1);
  if (!found.formula()) return;
  AttentionSpec formula = masked(Mask::parse(*found.formula()), 16);
  formula.lse = true;
  EXPECT_EQ(engine.attention(formula).report().origin, KernelReport::Origin::Memory) << *found.formula();
  EXPECT_EQ(engine.compilations(), 1);
}

TEST(MatrixMasks, WithAFormulaRunItsKernel) {
  expect_right_matrix(Bytes(150, 150, [](int64_t q, int64_t k) { return k <= q; }), MatrixMask::Form::Formula);
  expect_right_matrix(Bytes(200, 200, [](int64_t q, int64_t k) { return k <= q && q - k < 37; }), MatrixMask::Form::Formula);
  expect_right_matrix(Bytes(128, 96, [](int64_t q, int64_t k) { return q / 16 == k / 16; }), MatrixMask::Form::Formula);
  expect_right_matrix(Bytes(90, 130, [](int64_t, int64_t) { return true; }), MatrixMask::Form::Formula);
}

TEST(MatrixMasks, WithoutOneAreTables) {
  std::mt19937 random(5);
  expect_right_matrix(Bytes(130, 170, [&](int64_t, int64_t) { return random() % 3 == 0; }), MatrixMask::Form::Table);
}

TEST(MatrixMasks, TablesAreBoundOnceAndNewContentsCompileNothing) {
  Engine engine(without_disk());
  for (uint32_t seed = 0; seed < 4; ++seed) {
    std::mt19937 random(seed);
    Bytes bytes(70, 90, [&](int64_t, int64_t) { return random() % 4 == 0; });
    AttentionSpec spec;
    spec.matrix = recognize(bytes.view());
    expect_right(engine, spec, shape_of(bytes), bytes.allows());
  }
  EXPECT_EQ(engine.compilations(), 1);
}

TEST(MatrixMasks, TransposedViewsAreReadThroughTheirStrides) {
  Bytes bytes(60, 60, [](int64_t q, int64_t k) { return k >= q; });
  const Tensor view = bytes.view();
  const Tensor transposed{view.data, view.dtype, {60, 60}, {1, 60}};
  const MatrixMask found = recognize(transposed);
  ASSERT_TRUE(found.formula());
  Engine engine(without_disk());
  AttentionSpec spec;
  spec.matrix = found;
  expect_right(engine, spec, shape_of(bytes), [](const Pair& p) { return p.k <= p.q; });
}

/// Shortest runs of each attention, taken in turns so that a busy machine slows all of them; more turns while `settled` is not so.
std::vector<double> best_times(const std::vector<std::function<void()>>& runs, const std::function<bool(const std::vector<double>&)>& settled) {
  std::vector<double> best(runs.size(), std::numeric_limits<double>::infinity());
  for (int turn = 0; turn < 12 && (turn < 2 || !settled(best)); ++turn) {
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      runs[i]();
      best[i] = std::min(best[i], std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  }
  return best;
}

/// The report's sizes with one of its eight heads: time is proportional to heads.
TEST(FieldReports, R109_CausalAsATableOrAMatrixIsFast) {
  constexpr int64_t kRows = 4096;
  Bytes bytes(kRows, kRows, [](int64_t q, int64_t k) { return q >= k; });
  Engine engine(without_disk(1));
  const Attention dense = engine.attention(masked(Mask()));
  const Attention formula = engine.attention(masked(Mask::parse("q >= k")));
  const Attention table = engine.attention(masked(Mask::parse("m[q, k] != 0", {{"m", TableOf{DType::UInt8}}})));
  const Attention matrix = engine.attention({.head_dim = 64, .matrix = recognize(bytes.view())});
  EXPECT_NE(matrix.report().matrix.find("formula: k <= q\n"), std::string::npos) << matrix.report().matrix;
  EXPECT_NE(table.report().matrix.find("'m' is read at every pair"), std::string::npos) << table.report().matrix;
  EXPECT_EQ(formula.report().matrix, "");
  EXPECT_EQ(matrix.report().key, engine.attention(masked(Mask::parse("k <= q"))).report().key);

  Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = kRows, .sk = kRows, .dim = 64, .value_dim = 64});
  const Binding bound = table.bind({.tables = {{"m", bytes.view()}}, .batch = 1, .heads = 1, .kv_heads = 1, .sq = kRows, .sk = kRows});
  LaunchOptions with_table;
  with_table.binding = &bound;
  const std::vector<double> best = best_times(
      {[&] { run(dense, data); }, [&] { run(formula, data); }, [&] { run(table, data, with_table); }, [&] { run(matrix, data); }},
      [](const std::vector<double>& t) { return t[1] * 1.6 <= t[0] && t[2] <= t[0] * 1.3 && t[3] * 1.6 <= t[0]; });
  EXPECT_LE(best[1] * 1.6, best[0]);
  EXPECT_LE(best[2], best[0] * 1.3);
  EXPECT_LE(best[3] * 1.6, best[0]);
}

TEST(MatrixMasks, WrongUseNamesBothSizes) {
  Bytes bytes(40, 50, [](int64_t q, int64_t k) { return k <= q; });
  Engine engine(without_disk());
  AttentionSpec spec;
  spec.matrix = recognize(bytes.view());
  spec.head_dim = 16;
  Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 41, .sk = 50, .dim = 16, .value_dim = 16});
  try {
    run(engine.attention(spec), data);
    FAIL() << "another length was accepted";
  } catch (const UserError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("40 x 50"), std::string::npos) << text;
    EXPECT_NE(text.find("41 x 50"), std::string::npos) << text;
  }
  spec.mask = Mask::parse("k < 7");
  EXPECT_THROW(engine.attention(spec), UserError);
  std::vector<float> reals(20);
  EXPECT_THROW(recognize(Tensor::dense(reals.data(), {4, 5})), UserError);
  EXPECT_THROW(recognize(Tensor::dense(bytes.data.data(), {40}, DType::UInt8)), UserError);
}

}  // namespace
}  // namespace heddle::test
