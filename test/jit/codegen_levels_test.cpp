// A kernel means the same however hard LLVM's code generator works on it.
#include <gtest/gtest.h>

#include "test/codegen/emitted_kernel.h"
#include "test/codegen/launch_data.h"

namespace heddle::test {
namespace {

/// Results of one kernel at one level, the same bits 50 times.
std::vector<float> results_at(const KernelSpec& spec, LaunchData& data, int level) {
  const ir::ScheduledProgram program = schedule_of(problem_of(spec));
  const runtime::LoadedCode code = runtime::load_object(jit::compile(codegen::emit_kernel(program, "kernel"), level), "kernel");
  const auto entry = reinterpret_cast<AttentionKernel>(code.entry);
  const AttentionArgs& args = data.args;
  const int64_t blocks = args.batch * args.heads * ((args.sq + program.tile_rows - 1) / program.tile_rows);
  GuardedArray<std::byte> scratch(static_cast<size_t>(program.scratch_bytes));
  std::vector<float> first;
  for (int run = 0; run < 50; ++run) {
    data.clear();
    entry(&args, 0, blocks, scratch.data());
    const std::vector<float> found = data.results();
    if (first.empty()) first = found;
    EXPECT_TRUE(found == first) << "level " << level << ", run " << run;
    if (found != first) break;
  }
  return first;
}

TEST(FieldReports, R069_EveryCodegenLevelGivesTheSameResults) {
  const KernelSpec spec{.mask = "k <= q", .head_dim = 128, .value_dim = 128};
  Launch launch;
  launch.batch = 4, launch.sq = 2048, launch.sk = 128, launch.head_dim = launch.value_dim = 128;
  LaunchData data(launch);
  results_at(spec, data, 2);
  ASSERT_EQ(difference(reference::judge(problem_of(spec), data.args), data, accuracy_bar(128)), "");
  const std::vector<float> usual = data.results();
  for (const int level : {0, 1, 3}) {
    const std::vector<float> found = results_at(spec, data, level);
    double worst = 0;
    for (size_t i = 0; i < usual.size(); ++i) worst = std::max(worst, std::abs(double{usual[i]} - double{found[i]}));
    EXPECT_LE(worst, accuracy_bar(128)) << "level " << level;
  }
}

}  // namespace
}  // namespace heddle::test
