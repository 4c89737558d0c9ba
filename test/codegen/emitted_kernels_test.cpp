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

int count(const auto& list) { return static_cast<int>(list.size()); }
template <typename T>
const T& pick(const std::vector<T>& list, int i) {
  return list.at(static_cast<size_t>(i) % list.size());
}

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

/// All launches of one kernel: rows that agree in what is compiled.
using KernelRows = std::vector<PairCover::Row>;

/// Kernels for every pair of compile-time choices, then launches of them until every pair of choices occurs.
std::vector<KernelRows> make_grid(PairCover& cover) {
  std::vector<KernelRows> grid;
  const std::vector<PairCover::Row> kernels = cover.rows({kMask, kScore, kHeadDim, kValueDim, kTarget, kRows, kNests, kLse});
  for (const PairCover::Row& kernel : kernels) grid.push_back({cover.complete(kernel)});
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (cover.promise(kernels[i]) == 0) continue;
      const int64_t before = cover.missing();
      grid[i].push_back(cover.complete(kernels[i]));
      more = more || cover.missing() < before;
    }
  }
  return grid;
}

KernelSpec spec_of(const PairCover::Row& row) {
  const GridFormula &mask = pick(grid_masks(), row[kMask]), &score = pick(grid_scores(), row[kScore]);
  KernelSpec spec;
  spec.mask = mask.text, spec.score = score.text;
  spec.head_dim = pick(kHeadDims, row[kHeadDim]);
  const int64_t value_dim = pick(kValueDims, row[kValueDim]);
  spec.value_dim = value_dim == 0 ? spec.head_dim : value_dim;
  spec.target = pick(runnable_targets(), row[kTarget]);
  if (const int64_t vectors = pick(kVectorsOfRows, row[kRows])) spec.tile_rows = vectors * spec.target.lanes();
  if (row[kNests] == 0) spec.use_nests = false;
  spec.lse = row[kLse] == 1;
  for (const GridFormula* formula : {&mask, &score}) {
    for (const auto& [name, values] : formula->ints) spec.ints.push_back(name);
    for (const auto& [name, values] : formula->reals) spec.reals.push_back(name);
  }
  return spec;
}

Launch launch_of(const PairCover::Row& row, const KernelSpec& spec, uint64_t seed) {
  Launch launch;
  const GridHeads& heads = pick(kGridHeads, row[kHeads]);
  launch.batch = heads.batch, launch.heads = heads.heads, launch.kv_heads = heads.kv_heads;
  launch.sq = pick(kGridLengths, row[kLengths]).sq, launch.sk = pick(kGridLengths, row[kLengths]).sk;
  launch.head_dim = spec.head_dim, launch.value_dim = spec.value_dim;
  launch.layout = kLayouts[row[kLayout]];
  launch.rim = seed % 2 == 0 ? Rim::End : Rim::Begin;
  launch.seed = seed;
  const ir::ParameterOrder order = ir::parameter_order(problem_of(spec));
  const GridFormula &mask = pick(grid_masks(), row[kMask]), &score = pick(grid_scores(), row[kScore]);
  for (const std::string& name : order.ints) {
    launch.ints.push_back(pick(mask.ints.contains(name) ? mask.ints.at(name) : score.ints.at(name), row[kValues]));
  }
  for (const std::string& name : order.reals) launch.reals.push_back(pick(score.reals.at(name), row[kValues]));
  return launch;
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
