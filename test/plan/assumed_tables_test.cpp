// Masks that stand for masks with tables when plans are priced.
#include "src/plan/assumed_tables.h"

#include <gtest/gtest.h>

#include "dsl/parser.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"
#include "src/plan/make_plan.h"

namespace heddle::plan {
namespace {

ir::Expr parse(const std::string& text) {
  const Parameters declared = {{"doc", TableOf{}}, {"kdoc", TableOf{}}, {"start", TableOf{}}, {"len", TableOf{}}, {"flag", TableOf{}}};
  return ir::guard_divisors(dsl::parse_formula(text, {.parameters = declared, .origin = "mask"}));
}

/// Whether the assumed mask allows the pairs that `stand_in` does.
void expect_assumed(const std::string& text, const std::string& stand_in, bool whole = true) {
  const auto found = assume_tables(parse(text));
  ASSERT_TRUE(found) << text;
  EXPECT_EQ(found->whole, whole) << text;
  EXPECT_TRUE(ir::tables(found->mask).empty()) << text;
  EXPECT_NE(found->sentence.find("300 tokens"), std::string::npos) << found->sentence;
  const ir::Expr wanted = parse(stand_in);
  for (int64_t q = 0; q < 3000; q += 37) {
    for (int64_t k = 0; k < 3000; k += 41) {
      ir::Environment environment;
      environment.ints = {{"q", q}, {"k", k}, {"Sq", 3000}, {"Sk", 3000}, {"b", 0}, {"h", 0}};
      ASSERT_EQ(ir::evaluate_bool(found->mask, environment), ir::evaluate_bool(wanted, environment)) << text << " at " << q << ", " << k;
    }
  }
}

TEST(AssumedTables, EqualIdsAreRunsOfTokens) {
  expect_assumed("doc[q] == doc[k]", "q / 300 == k / 300");
  expect_assumed("doc[k] == doc[q] && q >= k", "q / 300 == k / 300 && q >= k");
  expect_assumed("doc[b, q] == kdoc[b, k]", "q / 300 == k / 300");
  expect_assumed("!(doc[q] != doc[k]) || k < 4", "q / 300 == k / 300 || k < 4");
}

TEST(AssumedTables, FirstKeysAreThoseOfRuns) {
  expect_assumed("k >= start[q] && k <= q", "k >= q / 300 * 300 && k <= q");
  expect_assumed("start[q] <= k && k <= q", "k >= q / 300 * 300 && k <= q");
}

TEST(AssumedTables, OtherConditionsHold) {
  expect_assumed("doc[q] == doc[k] && k < len[b]", "q / 300 == k / 300", false);
  expect_assumed("doc[q] == doc[k] && !(flag[k] == 1)", "q / 300 == k / 300", false);
  expect_assumed("k <= q && (doc[q] == doc[k] || flag[k] == 1)", "k <= q", false);
}

TEST(AssumedTables, NothingIsAssumedOfOtherTables) {
  for (const char* text : {"k < len[b]", "flag[k] == 1", "doc[q] == doc[q + 1]", "doc[q] < doc[k]", "k < start[q]"}) {
    EXPECT_FALSE(assume_tables(parse(text))) << text;
  }
}

ir::AttentionProblem problem(const std::string& mask) {
  ir::AttentionProblem made;
  made.mask = parse(mask);
  made.head_dim = made.value_dim = 64;
  made.target = Target::parse("cpu:avx512");
  return made;
}

double cost_of(const KernelPlan& plan, int64_t rows) {
  for (const Alternative& one : plan.alternatives) {
    if (one.name.find(" " + std::to_string(rows) + " rows x 16 keys") != std::string::npos) return one.cost;
  }
  return -1;
}

std::string notes(const KernelPlan& plan) {
  std::string all;
  for (const std::string& note : plan.notes) all += note + "\n";
  return all;
}

TEST(AssumedTables, ListsCostWhatClosedLoopsOfTheAssumedMaskCost) {
  AnalysedFacts facts;
  const KernelPlan listed = make_plan(problem("doc[q] == doc[k] && q >= k"), facts), nested = make_plan(problem("q / 300 == k / 300 && q >= k"), facts);
  ASSERT_EQ(listed.passes.size(), 1u);
  EXPECT_EQ(listed.passes[0].source, TileSource::Listed);
  EXPECT_TRUE(listed.passes[0].full.pieces.empty() && listed.passes[0].partial.pieces.empty());
  EXPECT_EQ(listed.tile_rows, nested.tile_rows);
  EXPECT_NEAR(cost_of(listed, listed.tile_rows), cost_of(nested, nested.tile_rows), 0.2 * cost_of(nested, nested.tile_rows));
  EXPECT_NE(notes(listed).find("300 tokens in a row"), std::string::npos) << notes(listed);
}

/// Blocks of 64 rows win where every tile is priced, and lose on documents of some 100 tokens.
TEST(AssumedTables, DocumentsGetBlocksThatFitThem) {
  AnalysedFacts facts;
  for (const char* mask : {"doc[q] == doc[k]", "doc[q] == doc[k] && q >= k"}) EXPECT_EQ(make_plan(problem(mask), facts).tile_rows, 32) << mask;
  EXPECT_EQ(make_plan(problem("flag[k] == 1"), facts).tile_rows, 64);
}

TEST(AssumedTables, WithoutAnAssumptionEveryTileIsPriced) {
  AnalysedFacts facts;
  const KernelPlan plan = make_plan(problem("flag[k] == 1"), facts);
  EXPECT_EQ(plan.passes[0].source, TileSource::Listed);
  EXPECT_NE(notes(plan).find("as if every tile were visited"), std::string::npos) << notes(plan);
}

}  // namespace
}  // namespace heddle::plan
