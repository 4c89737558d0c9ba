#include "src/engine/problem.h"
#include <gtest/gtest.h>
#include "src/ir/rewrite.h"

namespace heddle::engine {
namespace {

constexpr Target kWide{CpuLevel::Avx512}, kNarrow{CpuLevel::Avx2};

std::string error_of(const AttentionSpec& spec, const Target& target = kWide) {
  try {
    problem_of(spec, target);
  } catch (const UserError& error) {
    return error.message();
  }
  return "legal";
}

AttentionSpec sized(int64_t head_dim, int64_t value_dim) {
  AttentionSpec spec;
  spec.head_dim = head_dim, spec.value_dim = value_dim;
  return spec;
}

AttentionSpec tiled(int64_t rows) {
  AttentionSpec spec;
  spec.tile_rows = rows;
  return spec;
}

TEST(Problem, DefaultsAreDenseAttention) {
  const ir::AttentionProblem problem = problem_of({}, kWide);
  EXPECT_EQ(problem.mask, nullptr);
  EXPECT_EQ(problem.score, nullptr);
  EXPECT_EQ(problem.head_dim, 64);
  EXPECT_EQ(problem.value_dim, 64);
  EXPECT_FALSE(problem.lse);
  EXPECT_EQ(problem.target, kWide);
}

TEST(Problem, ValueDimFollowsHeadDimUnlessGiven) {
  EXPECT_EQ(problem_of(sized(40, 0), kWide).value_dim, 40);
  EXPECT_EQ(problem_of(sized(40, 24), kWide).value_dim, 24);
}

TEST(Problem, DimsOutOfRange) {
  EXPECT_EQ(error_of(sized(0, 0)), "head_dim is 0; expected 1 to 256");
  EXPECT_EQ(error_of(sized(257, 0)), "head_dim is 257; expected 1 to 256");
  EXPECT_EQ(error_of(sized(64, -1)), "value_dim is -1; expected 1 to 256, or 0 for head_dim");
  EXPECT_EQ(error_of(sized(64, 257)), "value_dim is 257; expected 1 to 256, or 0 for head_dim");
  EXPECT_EQ(error_of(sized(1, 256)), "legal");
  EXPECT_EQ(error_of(sized(256, 1)), "legal");
}

TEST(Problem, TileRowsAreWholeVectors) {
  EXPECT_EQ(error_of(tiled(24)), "tile_rows is 24; expected a multiple of 16 (lanes of cpu:avx512) up to 1024");
  EXPECT_EQ(error_of(tiled(0)), "tile_rows is 0; expected a multiple of 16 (lanes of cpu:avx512) up to 1024");
  EXPECT_EQ(error_of(tiled(2048)), "tile_rows is 2048; expected a multiple of 16 (lanes of cpu:avx512) up to 1024");
  EXPECT_EQ(error_of(tiled(24), kNarrow), "legal");
}

TEST(Problem, ParametersHaveOneType) {
  AttentionSpec spec;
  spec.mask = mask([](Index q, Index k) { return q - k < int_parameter("w"); });
  spec.score = score([](Real s) { return s * real_parameter("w"); });
  EXPECT_EQ(error_of(spec), "the parameter 'w' is an integer in one place and a real in another");
}

TEST(Problem, RunTimeDivisorsAreGuarded) {
  AttentionSpec spec;
  spec.mask = mask([](Index q, Index k) { return q / int_parameter("w") == k; });
  const ir::AttentionProblem by_mask = problem_of(spec, kWide);
  EXPECT_NE(ir::print(by_mask.mask).find("w != 0"), std::string::npos);
  AttentionSpec scored;
  scored.score = score([](Real s, Index q, Index) { return s + Real(q % int_parameter("n")); });
  const ir::AttentionProblem by_score = problem_of(scored, kWide);
  ASSERT_NE(by_score.mask, nullptr);
  EXPECT_EQ(ir::print(by_score.mask), "n != 0");
}

TEST(Problem, OptionsReachTheKey) {
  AttentionSpec spec = tiled(32);
  spec.use_nests = false;
  spec.lse = true;
  const ir::AttentionProblem problem = problem_of(spec, kWide);
  EXPECT_EQ(problem.options, (ir::PlanOptions{32, false}));
  EXPECT_TRUE(problem.lse);
  EXPECT_NE(ir::canonical_text(problem), ir::canonical_text(problem_of(tiled(32), kWide)));
}

}  // namespace
}  // namespace heddle::engine
