// Emitted kernels against the float64 judge over a grid of formulas, sizes, options and layouts that covers every pair of
// choices.
#include <gtest/gtest.h>

#include "src/codegen/reference/judge.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/kernel_grid.h"
#include "test/codegen/launch_data.h"
#include "test/codegen/pair_cover.h"

namespace heddle::test {
namespace {

constexpr int kShards = 4, kParameterChoices = 5;

enum Factor : size_t {
  kMask,
  kScore,
  kHeadDim,
  kValueDim,
  kTarget,
  kRows,
  kNests,
  kLse,
  kLengths,
  kHeads,
  kLayout,
  kValues,
  kFactors
};

/// Long sequences run with few heads, for time.
bool affordable(const PairCover::Row& row) {
  if (row[kLengths] < 0 || row[kHeads] < 0) return true;
  const GridLengths& lengths = pick(kGridLengths, row[kLengths]);
  const GridHeads& heads = pick(kGridHeads, row[kHeads]);
  return heads.batch * heads.heads * lengths.sq * lengths.sk <= 600'000 || heads.heads == 1;
}

PairCover make_cover() {
  return PairCover({count(grid_masks()), count(grid_scores()), count(kHeadDims), count(kValueDims), count(runnable_targets()),
                    count(kVectorsOfRows), 2, 2, count(kGridLengths), count(kGridHeads), static_cast<int>(std::size(kLayouts)),
                    kParameterChoices},
                   7, affordable);
}

std::vector<KernelRows> make_grid(PairCover& cover) {
  return make_grid(cover, {kMask, kScore, kHeadDim, kValueDim, kTarget, kRows, kNests, kLse});
}

const GridFormula& mask_of(const PairCover::Row& row) { return pick(grid_masks(), row[kMask]); }
const GridFormula& score_of(const PairCover::Row& row) { return pick(grid_scores(), row[kScore]); }

KernelSpec spec_of(const PairCover::Row& row) {
  KernelSpec spec = grid_spec(mask_of(row), score_of(row), pick(kHeadDims, row[kHeadDim]), pick(kValueDims, row[kValueDim]),
                              pick(runnable_targets(), row[kTarget]));
  if (const int64_t vectors = pick(kVectorsOfRows, row[kRows])) spec.tile_rows = vectors * spec.target.lanes();
  if (row[kNests] == 0) spec.use_nests = false;
  spec.lse = row[kLse] == 1;
  return spec;
}

Launch launch_of(const PairCover::Row& row, const KernelSpec& spec, uint64_t seed) {
  return launch_of(spec, mask_of(row), score_of(row),
                   {pick(kGridHeads, row[kHeads]), pick(kGridLengths, row[kLengths]), kLayouts[row[kLayout]], row[kValues], seed});
}

std::string describe(const KernelSpec& spec, const Launch& launch) {
  return fmt::format(
      "mask '{}' score '{}' D {} Dv {} {} rows {} nests {} lse {}; B {} H {}/{} Sq {} Sk {} layout {} ints [{}] reals [{}]",
      spec.mask, spec.score, spec.head_dim, spec.value_dim, spec.target.to_string(), spec.tile_rows.value_or(0),
      spec.use_nests.value_or(true), spec.lse, launch.batch, launch.heads, launch.kv_heads, launch.sq, launch.sk,
      static_cast<int>(launch.layout), fmt::join(launch.ints, ", "), fmt::join(launch.reals, ", "));
}

void check(const KernelSpec& spec, const ir::AttentionProblem& problem, const EmittedKernel& kernel, const Launch& launch,
           double bar) {
  LaunchData data(launch, spec.lse);
  kernel.run(data.args, launch.rim);
  EXPECT_EQ(difference(reference::judge(problem, data.args), data, bar), "") << describe(spec, launch);
}

class EmittedKernels : public testing::TestWithParam<int> {};

TEST_P(EmittedKernels, MeetTheAccuracyBar) {
  PairCover cover = make_cover();
  const std::vector<KernelRows> grid = make_grid(cover);
  for (size_t i = static_cast<size_t>(GetParam()); i < grid.size(); i += kShards) {
    const KernelSpec spec = spec_of(grid[i][0]);
    const ir::AttentionProblem problem = problem_of(spec);
    const EmittedKernel kernel(problem);
    const double bar = accuracy_bar(spec.head_dim) * pick(grid_scores(), grid[i][0][kScore]).bar;
    for (size_t j = 0; j < grid[i].size(); ++j) check(spec, problem, kernel, launch_of(grid[i][j], spec, i * 100 + j), bar);
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, EmittedKernels, testing::Range(0, kShards));

TEST(KernelGrid, CoversEveryPairOfChoices) {
  PairCover cover = make_cover();
  const std::vector<KernelRows> grid = make_grid(cover);
  size_t launches = 0;
  for (const KernelRows& rows : grid) launches += rows.size();
  EXPECT_EQ(cover.missing(), 0) << grid.size() << " kernels, " << launches << " launches";
}

}  // namespace
}  // namespace heddle::test
