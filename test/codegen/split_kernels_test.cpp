// Kernels for few queries against the float64 judge over a grid of formulas, sizes, groups of heads, layouts and parts.
#include <gtest/gtest.h>

#include "src/codegen/reference/judge.h"
#include "test/codegen/kernel_grid.h"
#include "test/codegen/pair_cover.h"
#include "test/codegen/split_kernel.h"

namespace heddle::test {
namespace {

constexpr int kShards = 4, kParameterChoices = 5;
const std::vector<GridLengths> kLengths = {{1, 1},  {1, 15},  {1, 16},  {1, 17}, {1, 63},  {1, 64},  {1, 65},  {1, 100}, {1, 333}, {1, 1000},
                                           {2, 40}, {3, 129}, {5, 200}, {8, 77}, {1, 0},   {0, 5},   {17, 17}, {40, 64}, {33, 90}};
const std::vector<GridHeads> kHeads = {{1, 1, 1}, {2, 2, 2}, {1, 8, 2}, {2, 6, 1}, {1, 5, 1}, {1, 14, 2}, {1, 20, 1}, {2, 16, 1}};
const std::vector<int64_t> kPartKeys = {int64_t{1} << 20, 16, 64, 112};

enum Factor : size_t { kMask, kScore, kHeadDim, kValueDim, kTarget, kNests, kLengthsAt, kHeadsAt, kLayout, kValues, kParts, kFactors };

PairCover make_cover() {
  return PairCover({count(grid_masks()), count(grid_scores()), count(kHeadDims), count(kValueDims), count(runnable_targets()), 2, count(kLengths),
                    count(kHeads), static_cast<int>(std::size(kLayouts)), kParameterChoices, count(kPartKeys)},
                   11);
}

std::vector<KernelRows> make_grid(PairCover& cover) {
  return make_grid(cover, {kMask, kScore, kHeadDim, kValueDim, kTarget, kNests});
}

const GridFormula& mask_of(const PairCover::Row& row) { return pick(grid_masks(), row[kMask]); }
const GridFormula& score_of(const PairCover::Row& row) { return pick(grid_scores(), row[kScore]); }

KernelSpec spec_of(const PairCover::Row& row) {
  KernelSpec spec = grid_spec(mask_of(row), score_of(row), pick(kHeadDims, row[kHeadDim]), pick(kValueDims, row[kValueDim]),
                              pick(runnable_targets(), row[kTarget]));
  if (row[kNests] == 0) spec.use_nests = false;
  return spec;
}

Launch launch_of(const PairCover::Row& row, const KernelSpec& spec, uint64_t seed) {
  return launch_of(spec, mask_of(row), score_of(row),
                   {pick(kHeads, row[kHeadsAt]), pick(kLengths, row[kLengthsAt]), kLayouts[row[kLayout]], row[kValues], seed});
}

std::string describe(const KernelSpec& spec, const Launch& launch, int64_t part_keys) {
  return fmt::format("mask '{}' score '{}' D {} Dv {} {} nests {}; B {} H {}/{} Sq {} Sk {} layout {} ints [{}] reals [{}] parts of {}", spec.mask,
                     spec.score, spec.head_dim, spec.value_dim, spec.target.to_string(), spec.use_nests.value_or(true), launch.batch, launch.heads,
                     launch.kv_heads, launch.sq, launch.sk, static_cast<int>(launch.layout), fmt::join(launch.ints, ", "),
                     fmt::join(launch.reals, ", "), part_keys);
}

class SplitKernels : public testing::TestWithParam<int> {};

TEST_P(SplitKernels, MeetTheAccuracyBar) {
  PairCover cover = make_cover();
  const std::vector<KernelRows> grid = make_grid(cover);
  for (size_t i = static_cast<size_t>(GetParam()); i < grid.size(); i += kShards) {
    const KernelSpec spec = spec_of(grid[i][0]);
    const ir::AttentionProblem problem = problem_of(spec);
    const SplitKernel kernel(problem);
    const double bar = accuracy_bar(spec.head_dim) * pick(grid_scores(), grid[i][0][kScore]).bar;
    for (size_t j = 0; j < grid[i].size(); ++j) {
      const Launch launch = launch_of(grid[i][j], spec, i * 100 + j);
      LaunchData data(launch);
      kernel.run(data, pick(kPartKeys, grid[i][j][kParts]), launch.rim);
      EXPECT_EQ(difference(reference::judge(problem, data.args), data, bar), "") << describe(spec, launch, pick(kPartKeys, grid[i][j][kParts]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, SplitKernels, testing::Range(0, kShards));

TEST(SplitGrid, CoversEveryPairOfChoices) {
  PairCover cover = make_cover();
  make_grid(cover);
  EXPECT_EQ(cover.missing(), 0);
}

}  // namespace
}  // namespace heddle::test
