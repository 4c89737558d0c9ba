// The cost model: register tiles within the register file, and prices that move the right way.
#include "src/plan/cost_model.h"

#include <gtest/gtest.h>

#include "dsl/parser.h"

namespace heddle::plan {
namespace {

ir::AttentionProblem problem(const char* target = "cpu:avx512") {
  ir::AttentionProblem made;
  made.target = Target::parse(target);
  return made;
}

ir::Expr mask(const char* text) { return dsl::parse_formula(text, {ir::Type::Bool, {}, "mask"}); }
ir::Expr score(const char* text) { return dsl::parse_formula(text, {ir::Type::Real, {}, "score"}); }

GridWork work(int64_t full, int64_t partial, int64_t rows = 64) {
  GridWork made = {rows, 16, 64, {}};
  made.passes.resize(1);
  made.passes[0].full = {full, full / 6, 0};
  made.passes[0].partial = {partial, partial / 2, 0};
  made.passes[0].mask = mask("k <= q && q - k < 256");
  return made;
}

TEST(RegisterTile, FitsTheRegisterFileAndDividesSteps) {
  for (const char* name : {"cpu:avx2", "cpu:avx512"}) {
    const Target target = Target::parse(name);
    for (int64_t rows = target.lanes(); rows <= 1024; rows += target.lanes()) {
      const RegisterTile tile = register_tile(target, rows);
      EXPECT_LE(tile.keys * tile.vectors + tile.vectors + 1, target.vector_registers()) << name << " " << rows;
      EXPECT_EQ(rows / target.lanes() % tile.vectors, 0) << name << " " << rows;
      EXPECT_EQ(kKeysPerStep % tile.keys, 0) << name << " " << rows;
    }
  }
}

TEST(RegisterTile, MeasuredShapes) {
  const Target wide = Target::parse("cpu:avx512"), narrow = Target::parse("cpu:avx2");
  EXPECT_EQ(register_tile(wide, 64), (RegisterTile{6, 4}));
  EXPECT_EQ(register_tile(wide, 32), (RegisterTile{12, 2}));
  EXPECT_EQ(register_tile(wide, 16), (RegisterTile{24, 1}));
  EXPECT_EQ(register_tile(narrow, 24), (RegisterTile{4, 3}));
  EXPECT_EQ(register_tile(narrow, 16), (RegisterTile{6, 2}));
}

TEST(FormulaCycles, HoistedPartsAreFree) {
  const CpuCosts costs;
  EXPECT_EQ(formula_cycles(nullptr, costs), 0);
  EXPECT_EQ(formula_cycles(mask("q % 7 == 0"), costs), 0);
  EXPECT_EQ(formula_cycles(mask("k / 3 < 5"), costs), 0);
  EXPECT_EQ(formula_cycles(mask("q + 3 >= k * 2"), costs), costs.operation);
  EXPECT_EQ(formula_cycles(mask("(q - k) % 4 == 0"), costs), 2 * costs.operation + costs.function);
  EXPECT_EQ(formula_cycles(score("tanh(s)"), costs), costs.function);
}

TEST(Price, GrowsWithWork) {
  const CpuCosts costs;
  const double base = price(problem(), work(600, 100), costs);
  EXPECT_GT(price(problem(), work(601, 100), costs), base);
  EXPECT_GT(price(problem(), work(600, 101), costs), base);
  EXPECT_GT(price(problem(), work(588, 112), costs), base) << "a partial tile costs more than a full one";
  GridWork tested = work(600, 100);
  tested.passes[0].tested_tiles = 1000;
  EXPECT_GT(price(problem(), tested, costs), base);
  ir::AttentionProblem scored = problem();
  scored.score = score("tanh(s)");
  EXPECT_GT(price(scored, work(600, 100), costs), base);
  GridWork two = work(600, 100);
  two.passes.push_back({});
  EXPECT_GT(price(problem(), two, costs), base);
}

TEST(Price, OfHalvesAddsStagingUnlessDotProductsHalveTheWork) {
  const CpuCosts costs;
  ir::AttentionProblem half = problem(), dots = problem("cpu:avx512-bf16");
  half.dtype = dots.dtype = DType::BFloat16;
  const auto more = [&](int64_t rows) { return price(half, work(600, 100, rows), costs) / price(problem(), work(600, 100, rows), costs); };
  EXPECT_GT(more(64), 1);
  EXPECT_GT(more(16), more(64)) << "every row block stages anew";
  EXPECT_LT(price(dots, work(600, 100), costs), 0.75 * price(problem(), work(600, 100), costs));
}

TEST(Price, NearsTheMeasuredShareOfPeak) {
  GridWork dense = {64, 16, 64, {}};
  dense.passes.resize(1);
  dense.passes[0].full = {64 * 256, 64 * 43, 0};
  const double fmas = 4096.0 * 4096.0 * 128 / 16;
  EXPECT_NEAR(fmas / 2 / price(problem(), dense, CpuCosts{}), 0.87, 0.04);
}

}  // namespace
}  // namespace heddle::plan
