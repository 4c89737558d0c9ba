// The case files' masks as raw matrices: what is found in a matrix is what is true of its formula.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "src/ir/rewrite.h"
#include "test/analysis/facts_check.h"
#include "test/analysis/matrix_check.h"

namespace heddle::analysis::test {
namespace {

using nlohmann::json;

constexpr int64_t kMostPairs = int64_t{1} << 21;
const std::vector<TileShape> kShapes = {{16, 16}, {64, 64}, {128, 64}};

/// The cases without tables that are cheap.
std::vector<json> cases() {
  std::ifstream file(HEDDLE_SOURCE_DIR "/test/cases/masks.json");
  const json all = json::parse(file);
  std::vector<json> chosen;
  for (const json& one : all.at("cases")) {
    const int64_t pairs = one["seq_q"].get<int64_t>() * one["seq_k"].get<int64_t>();
    if (!one.contains("tables") && !one.contains("lcg_tables") && pairs <= kMostPairs) chosen.push_back(one);
  }
  return chosen;
}

class MatrixCases : public testing::TestWithParam<json> {};

TEST_P(MatrixCases, AreWhatTheirFormulaIs) {
  const json& one = GetParam();
  const Lengths lengths{one["seq_q"], one["seq_k"]};
  const ir::Expr mask = ir::guard_divisors(parse_mask(one["formula"]));
  const ByteMatrix matrix = matrix_of(mask, lengths);
  const MatrixFacts found = matrix_facts(matrix.view(), {.tiles = kShapes});
  ASSERT_EQ(check_matrix(matrix, found), "");

  const MaskCounts counts = count(MaskFacts(mask), lengths, {.tiles = kShapes, .pieces = true});
  EXPECT_EQ(found.nnz, counts.nnz);
  EXPECT_EQ(found.empty_rows, counts.empty_rows);
  EXPECT_EQ(found.row_nnz_max, counts.row_nnz_max);
  EXPECT_EQ(found.row_runs_max, counts.row_runs_max);
  EXPECT_EQ(found.row_runs_total, counts.row_runs_total);
  EXPECT_EQ(found.affine_rows, counts.affine_rows);
  EXPECT_EQ(found.tiles, counts.tiles);
  const json& recorded = one["results"];
  EXPECT_EQ(found.nnz, recorded["nnz"]);
  EXPECT_EQ(found.row_runs_total, recorded["row_runs_total"]);
  for (const TileShape& shape : kShapes) {
    const json& tiles = recorded["tiles"][fmt::format("{}x{}", shape.rows, shape.cols)];
    const TileCounts& all = found.tiles.at(shape);
    EXPECT_EQ(all.empty, tiles["empty"]);
    EXPECT_EQ(all.full, tiles["full"]);
    EXPECT_EQ(all.partial, tiles["partial"]);
  }
}

/// The facts that a kernel of the suggestion would be planned from: rows, components and both tile relations, pair by pair.
TEST_P(MatrixCases, SuggestionsHaveTheFactsOfTheMatrix) {
  const json& one = GetParam();
  const Lengths lengths{one["seq_q"], one["seq_k"]};
  const ByteMatrix matrix = matrix_of(ir::guard_divisors(parse_mask(one["formula"])), lengths);
  const MatrixFacts found = matrix_facts(matrix.view());
  if (!found.formula) return;
  EXPECT_TRUE(ir::equal(parse_mask(ir::print(found.formula)), found.formula)) << ir::print(found.formula);
  const MaskFacts facts(ir::guard_divisors(found.formula), {.lengths = lengths});
  ASSERT_EQ(check_facts(facts, {{64, 64}, {16, 16}}, lengths), "") << ir::print(found.formula);
  EXPECT_EQ(count(facts, lengths, {.tiles = {{64, 64}}}).tiles, found.tiles) << ir::print(found.formula);
}

INSTANTIATE_TEST_SUITE_P(All, MatrixCases, testing::ValuesIn(cases()), [](const auto& param) { return param.param["name"].template get<std::string>(); });

/// Masks of the literature must not fall to tables for want of a formula.
TEST(MatrixCasesTogether, MostHaveAFormula) {
  int64_t all = 0, without = 0;
  std::string names;
  for (const json& one : cases()) {
    const ByteMatrix matrix = matrix_of(parse_mask(one["formula"]), {one["seq_q"], one["seq_k"]});
    ++all;
    if (matrix_facts(matrix.view()).formula) continue;
    ++without, names += fmt::format(" {}", one["name"].get<std::string>());
  }
  EXPECT_GE(all, 140);
  EXPECT_LE(without * 5, all) << names;
}

}  // namespace
}  // namespace heddle::analysis::test
