// Whole compilations: the record tells the truth about its object, and every optional pass may be left out.
#include <gtest/gtest.h>

#include "src/codegen/reference/judge.h"
#include "src/engine/compiler/kernel_pipeline.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/launch_data.h"

namespace heddle::test {
namespace {

const std::vector<KernelSpec> kSpecs = {
    {},
    {.mask = "true && (k <= q || false)", .score = "s * 1.0 + 0.0", .head_dim = 24, .value_dim = 9},
    {.mask = "abs(q - k) <= 3 * 5 || k < 2 + 2 || !(!(q < 3))"},
    {.mask = "k <= q && (q - k < 16 || (q - k) % 16 == 0)", .score = "softcap(s, 1.0 + 2.0)"},
    {.mask = "(q + k) % 2 == 0 || k < 40"},
    {.mask = "q * k % 7 == 0", .lse = false},
    {.mask = "false"},
    {.mask = "k <= q + kb && q - k < NF && q % zero != 1 && k >= q0",
     .score = "s - slope * abs(q - k - q0)",
     .ints = {"NF", "kb", "q0", "zero"},
     .reals = {"slope"}},
};

std::set<std::string> optional_passes() {
  std::set<std::string> names;
  for (const auto& pass : lower::pipeline()) {
    if (pass.optional) names.insert(pass.name);
  }
  return names;
}

Launch launch_of(const ir::AttentionProblem& problem, const LaunchRecord& record) {
  Launch launch;
  launch.batch = 2, launch.heads = 4, launch.kv_heads = 2, launch.sq = 70, launch.sk = 83;
  launch.head_dim = problem.head_dim, launch.value_dim = problem.value_dim;
  const std::map<std::string, int64_t> ints = {{"NF", 20}, {"kb", 6}, {"q0", 2}, {"zero", 5}};
  for (const std::string& name : record.int_params) launch.ints.push_back(ints.at(name));
  launch.reals.assign(record.real_params.size(), 0.125);
  return launch;
}

/// Launches the object the way the runtime does: by nothing but its record.
void check(const ir::AttentionProblem& problem, const engine::CompiledKernel& kernel) {
  const LaunchRecord& record = kernel.record;
  const runtime::LoadedCode code = runtime::load_object(kernel.object, record.symbol);
  LaunchData data(launch_of(problem, record), record.lse);
  GuardedArray<std::byte> scratch(static_cast<size_t>(record.scratch_bytes));
  const int64_t blocks = data.args.batch * data.args.heads * record.row_blocks(data.args.sq);
  reinterpret_cast<AttentionKernel>(code.entry)(&data.args, 0, blocks, scratch.data());
  EXPECT_EQ(difference(reference::judge(problem, data.args), data, 4 * accuracy_bar(problem.head_dim)), "");
}

bool timed(const engine::CompiledKernel& kernel, const std::string& pass) {
  return std::any_of(kernel.times.begin(), kernel.times.end(), [&](const support::TimedPass& time) { return time.name == pass; });
}

TEST(CompiledKernels, AreRightWithoutAnyOfTheOptionalPasses) {
  const std::set<std::string> optional = optional_passes();
  ASSERT_GE(optional.size(), 2u);
  std::vector<std::set<std::string>> choices = {{}, optional};
  for (const std::string& name : optional) choices.push_back({name});
  for (const KernelSpec& like : kSpecs) {
    for (const Target& target : runnable_targets()) {
      KernelSpec spec = like;
      spec.target = target;
      const ir::AttentionProblem problem = problem_of(spec);
      for (const std::set<std::string>& without : choices) {
        SCOPED_TRACE(fmt::format("mask '{}' {} without [{}]", spec.mask, target.to_string(), fmt::join(without, ", ")));
        const engine::CompiledKernel kernel = engine::compile_kernel(problem, {without, nullptr});
        for (const std::string& name : optional) EXPECT_EQ(timed(kernel, name), !without.contains(name)) << name;
        check(problem, kernel);
      }
    }
  }
}

TEST(CompiledKernels, OfUnsimplifiedProblemsAreRight) {
  for (const char* mask :
       {"true", "false || k <= q + 0", "!(k > q) && 3 < 4", "k * 1 - q * 0 < 20 + 5 * 4", "q / 1 == k / 1 || k % 1 == 1"}) {
    KernelSpec spec = {.mask = mask};
    ir::AttentionProblem problem = problem_of(spec);
    problem.mask = dsl::parse_formula(mask, {ir::Type::Bool, {}, "mask"});
    for (const std::set<std::string>& without : {std::set<std::string>{}, optional_passes()}) {
      SCOPED_TRACE(mask);
      check(problem, engine::compile_kernel(problem, {without, nullptr}));
    }
  }
}

TEST(CompiledKernels, RecordWhatTheyAre) {
  KernelSpec spec = kSpecs.back();
  const ir::AttentionProblem problem = problem_of(spec);
  const LaunchRecord record = engine::compile_kernel(problem).record;
  EXPECT_EQ(record.target, spec.target.to_string());
  EXPECT_EQ(record.int_params, spec.ints);
  EXPECT_EQ(record.real_params, spec.reals);
  EXPECT_TRUE(record.lse);
  EXPECT_EQ(record.max_positions, ir::kMaxPositions);
  EXPECT_EQ(record.scratch_bytes % 64, 0);
  EXPECT_NE(record.summary.find(ir::print(problem.mask)), std::string::npos) << record.summary;
  LaunchRecord again;
  ASSERT_TRUE(deserialize(serialize(record), again));
  EXPECT_EQ(again, record);
}

TEST(CompiledKernels, ShowEveryStage) {
  KernelSpec spec = {.mask = "k <= q && q - k < 40"};
  const ir::AttentionProblem problem = problem_of(spec);
  const std::pair<engine::StageText, const char*> kStages[] = {
      {engine::StageText::Formula, "q - k < 40"}, {engine::StageText::Plan, "fused"},
      {engine::StageText::Tile, "mma"},           {engine::StageText::Schedule, "bytes of scratch"},
      {engine::StageText::Source, "define"},      {engine::StageText::Asm, "vfmadd"}};
  for (const auto& [stage, part] : kStages) {
    const std::string text = engine::stage_text(problem, stage);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text, engine::stage_text(problem, stage)) << "stages are deterministic";
  }
  EXPECT_FALSE(engine::stage_text(problem, engine::StageText::Facts).empty());
  EXPECT_FALSE(engine::stage_text(problem, engine::StageText::Explain).empty());
}

}  // namespace
}  // namespace heddle::test
