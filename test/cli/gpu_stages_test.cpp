// `emit`, `plan` and `explain` for GPU targets.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

Outcome emit(const std::string& target, const std::string& stage) {
  return heddle_command({"emit", "--mask", "q >= k && q - k < 256", "--target", target, "--stage", stage});
}

bool holds(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

TEST(GpuStages, SourceIsAWholeTranslationUnit) {
  for (const char* target : {"cuda:sm_80", "hip:gfx90a"}) {
    const Outcome outcome = emit(target, "source");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(holds(outcome.out, "// mask: q >= k && q - k < 256")) << target;
    EXPECT_TRUE(holds(outcome.out, "HD_KERNEL(heddle_attention, ")) << target;
    EXPECT_FALSE(holds(outcome.out, "#include")) << target;
  }
  EXPECT_TRUE(holds(emit("cuda:sm_80", "source").out, "mma.sync.aligned.m16n8k16"));
  EXPECT_TRUE(holds(emit("hip:gfx90a", "source").out, "__builtin_amdgcn_mfma_f32_16x16x16f16"));
}

TEST(GpuStages, EveryStageBeforeTheSourceHasText) {
  for (const char* stage : {"formula", "facts", "plan", "tile", "schedule"}) {
    const Outcome outcome = emit("cuda:sm_90", stage);
    EXPECT_EQ(outcome.status, 0) << stage << outcome.err;
    EXPECT_GT(outcome.out.size(), 3u) << stage;
  }
  EXPECT_TRUE(holds(emit("cuda:sm_90", "plan").out, "target cuda:sm_90"));
  EXPECT_TRUE(holds(emit("cuda:sm_90", "schedule").out, "mma.sync"));
}

TEST(GpuStages, JsonNamesTheTarget) {
  const Outcome outcome = heddle_command({"emit", "--mask", "k <= q", "--target", "hip:gfx942", "--stage", "source", "--json"});
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["attentions"][0]["target"], "hip:gfx942") << outcome.err;
}

TEST(GpuStages, MistakesAreUserErrors) {
  const Outcome unknown = emit("cuda:sm_12", "source");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(holds(unknown.err, "cuda:sm_80")) << unknown.err;
  const Outcome dims = heddle_command({"emit", "--mask", "k <= q", "--head-dim", "50", "--target", "cuda:sm_80", "--stage", "source"});
  EXPECT_EQ(dims.status, 2);
  EXPECT_TRUE(holds(dims.err, "head_dim is 50: GPU kernels take multiples of 16 up to 128")) << dims.err;
  EXPECT_EQ(emit("cuda:sm_80", "asm").status, 2);
}

}  // namespace
}  // namespace heddle::test
