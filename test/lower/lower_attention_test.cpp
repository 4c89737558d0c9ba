// Lowered programs, executed by the interpreter, against the float64 judge over masks, scores and shapes.
#include "src/lower/lower_attention.h"

#include "src/codegen/reference/interpreter.h"
#include "src/codegen/reference/judge.h"
#include "src/lower/pipeline.h"
#include "src/plan/make_plan.h"
#include "test/lower/attention_data.h"

namespace heddle {
namespace {

using test::AttentionData;
using test::Shape;

constexpr double kTolerance = 1e-10;

struct Case {
  std::string mask, score;
};

const std::vector<std::string> kMasks = {
    "",
    "true",
    "false",
    "k <= q",
    "k <= q + (Sk - Sq)",
    "k <= q && q - k < 7",
    "abs(q - k) <= 5 || k < 3 || q < 2",
    "(q - k) % 4 == 0 && k <= q",
    "q / 8 == k / 8",
    "k < 10",
    "q != 5 && k % 3 != 1",
    "k > q + 1000",
    "k == q",
    "k % (q % 3) == 0",
    "h % 2 == 0 || k <= q",
    "b == 0 && abs(k - q) < 4",
    "k * k <= q",
    "k <= q ? k % 2 == 0 : k % 2 == 1",
    "max(q, k) % 5 != 0 && min(q, k) < 20",
    "abs(q / 4 - k / 4) <= 1 && abs(q % 4 - k % 4) <= 1",
};
const std::vector<std::string> kScores = {"",
                                          "softcap(s, 2.0)",
                                          "s - abs(q - k) * exp(-0.5 * (h + 1))",
                                          "(k < q ? s : 0.5 * s) + sigmoid(s)",
                                          "k % 5 == 0 ? log(0.0) : s",
                                          "s / (q - k)"};
const std::vector<Shape> kShapes = {{1, 1, 1, 1, 1, 8, 8},   {1, 1, 1, 1, 37, 5, 3},  {1, 1, 1, 33, 1, 8, 8},
                                    {2, 4, 2, 35, 51, 7, 9}, {1, 2, 1, 64, 64, 8, 8}, {1, 3, 3, 17, 130, 4, 1}};

void expect_equal(const reference::AttentionResult& expected, const reference::AttentionResult& actual, const std::string& what) {
  EXPECT_EQ(test::difference(expected.o, actual.o, kTolerance), "") << "O, " << what;
  EXPECT_EQ(test::difference(expected.lse, actual.lse, kTolerance), "") << "LSE, " << what;
}

void check(const Case& c, const Shape& shape, const ir::PlanOptions& options, const AttentionData& data) {
  ir::AttentionProblem problem = test::problem(c.mask, c.score, shape);
  problem.options = options;
  const ir::TileProgram tile = lower::run_pipeline(problem).state.tile;
  const std::string what = "mask '" + c.mask + "' score '" + c.score + "' Sq " + std::to_string(shape.sq) + " Sk " +
                           std::to_string(shape.sk) + "\n" + print(tile);
  expect_equal(reference::judge(problem, data.args()), reference::interpret(tile, data.args()), what);
}

TEST(LowerAttention, EveryMaskOnEveryShape) {
  for (const Shape& shape : kShapes) {
    const AttentionData data(shape);
    for (const std::string& mask : kMasks) {
      for (bool nests : {true, false}) check({mask, ""}, shape, {std::nullopt, nests}, data);
    }
  }
}

TEST(LowerAttention, EveryScoreUnderMasks) {
  for (const Shape& shape : {kShapes[1], kShapes[3]}) {
    const AttentionData data(shape, 2);
    for (const std::string& score : kScores) {
      for (const char* mask : {"", "k <= q && q - k < 7", "(q - k) % 4 == 0"}) check({mask, score}, shape, {}, data);
    }
  }
}

TEST(LowerAttention, EveryBlockHeight) {
  const Shape shape = {1, 2, 1, 150, 140, 8, 8};
  const AttentionData data(shape, 3);
  for (int64_t rows : {16, 32, 48, 64, 128}) {
    for (const char* mask : {"", "k <= q && q - k < 33", "q / 32 == k / 32 || k < 4"}) check({mask, ""}, shape, {rows, true}, data);
  }
}

TEST(LowerAttention, AnyNumberOfTilesIsAStep) {
  const Shape shape = {1, 1, 1, 70, 90, 8, 8};
  const AttentionData data(shape, 4);
  const ir::AttentionProblem problem = test::problem("abs(q - k) < 40", "softcap(s, 3.0)", shape);
  const ir::TileProgram tile = lower::run_pipeline(problem).state.tile;
  const reference::AttentionResult expected = reference::judge(problem, data.args());
  for (int64_t tiles : {1, 2, 5, 100}) expect_equal(expected, reference::interpret(tile, data.args(), tiles), std::to_string(tiles));
}

TEST(LowerAttention, ZeroAndNegativeScale) {
  const Shape shape = {1, 1, 1, 20, 30, 8, 8};
  AttentionData data(shape, 5);
  for (double scale : {0.0, -0.7, 3.0}) {
    data.set_scale(scale);
    for (const char* score : {"", "s * s - s"}) check({"k <= q + 5", score}, shape, {}, data);
  }
}

TEST(LowerAttention, ParametersStayInTheOrderOfTheProblem) {
  const Shape shape = {1, 2, 2, 40, 44, 8, 8};
  AttentionData data(shape, 6);
  const Parameters names = test::dynamic({"kb", "NK", "width", "unused"}, {"slope"});
  const ir::AttentionProblem problem =
      test::problem("k <= q + kb && q - k < width && k >= NK - 3 && (unused * 0 == 0)", "s - slope * abs(q - k)", shape, names);
  ASSERT_EQ(ir::parameter_order(problem).ints, (std::vector<std::string>{"NK", "kb", "unused", "width"}));
  data.set_parameters({5, 2, 99, 17}, {0.25});
  const lower::PipelineResult result = lower::run_pipeline(problem);
  EXPECT_EQ(result.state.parameters.ints, ir::parameter_order(problem).ints);
  ASSERT_EQ(result.state.tile.int_params.size(), 4u);
  expect_equal(reference::judge(problem, data.args()), reference::interpret(result.state.tile, data.args()), print(result.state.tile));
}

TEST(LowerAttention, PassesOverDisjointPartsChainTheirState) {
  const Shape shape = {1, 1, 1, 50, 60, 8, 8};
  const AttentionData data(shape, 7);
  const ir::AttentionProblem problem = test::problem("abs(q - k) <= 6 || k < 9", "", shape);
  plan::AnalysedFacts facts;
  plan::KernelPlan two = plan::make_plan(problem, facts);
  two.passes.clear();
  for (const char* part : {"abs(q - k) <= 6", "k < 9 && !(abs(q - k) <= 6)"}) {
    const ir::Expr mask = dsl::parse_formula(part, {ir::Type::Bool, {}, "mask"});
    two.passes.push_back(plan::make_pass(mask, {two.tile_rows, two.tile_keys}, facts));
  }
  const ir::TileProgram tile = lower::lower_attention(two);
  expect_equal(reference::judge(problem, data.args()), reference::interpret(tile, data.args()), print(tile));
}

TEST(LowerAttention, LseOnlyWhenAsked) {
  const Shape shape = {1, 1, 1, 4, 4, 8, 8};
  ir::AttentionProblem problem = test::problem("k <= q", "", shape);
  problem.lse = false;
  const AttentionData data(shape);
  EXPECT_TRUE(reference::interpret(lower::run_pipeline(problem).state.tile, data.args()).lse.empty());
}

TEST(LowerAttention, GarbageThatNobodyReadsIsHarmless) {
  const Shape shape = {1, 2, 1, 40, 64, 8, 8};
  AttentionData data(shape, 8);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t key : {45, 46, 63}) {  // Keys that no query attends: within a partial tile and behind the last one.
    for (int64_t d = 0; d < 8; ++d) data.k_row(0, 0, key)[d] = data.v_row(0, 0, key)[d] = nan;
  }
  for (int64_t d = 0; d < 8; ++d) data.k_row(0, 0, 44)[d] = nan;  // Attended by nobody through the second clause.
  for (bool nests : {true, false}) {
    check({"k <= q + 4 && k != 44", ""}, shape, {std::nullopt, nests}, data);
    check({"k <= q + 4 && k != 44", "softcap(s, 5.0)"}, shape, {std::nullopt, nests}, data);
  }
}

TEST(LowerAttention, NotFiniteValuesReachTheQueriesThatAttendThem) {
  const Shape shape = {1, 1, 1, 40, 40, 8, 8};
  AttentionData data(shape, 9);
  data.v_row(0, 0, 20)[3] = std::numeric_limits<float>::infinity();
  data.v_row(0, 0, 21)[4] = std::numeric_limits<float>::quiet_NaN();
  const ir::AttentionProblem problem = test::problem("k <= q", "", shape);
  const reference::AttentionResult expected = reference::judge(problem, data.args());
  const reference::AttentionResult actual = reference::interpret(lower::run_pipeline(problem).state.tile, data.args());
  EXPECT_EQ(test::difference(expected.o, actual.o, kTolerance, true), "");
  EXPECT_FALSE(std::isfinite(actual.o[20 * 8 + 3]));
  EXPECT_TRUE(std::isnan(actual.o[21 * 8 + 4]));
  EXPECT_TRUE(std::isfinite(actual.o[7]));
}

TEST(LowerAttention, ResultsStayRightWithoutEachOptionalPass) {
  const Shape shape = {1, 2, 1, 60, 70, 8, 8};
  const AttentionData data(shape, 10);
  const ir::AttentionProblem problem = test::problem("(k * k <= q || q - k == 2 * (3 - 1)) && !(!(k < 100))", "s * 1.0 + 0.0", shape);
  const reference::AttentionResult expected = reference::judge(problem, data.args());
  int optional = 0;
  for (const auto& pass : lower::pipeline()) {
    if (!pass.optional) continue;
    ++optional;
    const lower::PipelineResult result = lower::run_pipeline(problem, {{pass.name}, nullptr});
    for (const auto& time : result.times) EXPECT_NE(time.name, pass.name);
    expect_equal(expected, reference::interpret(result.state.tile, data.args()), "without " + pass.name);
  }
  EXPECT_EQ(optional, 2);
}

}  // namespace
}  // namespace heddle
