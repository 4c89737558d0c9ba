// GPU targets as values: text forms, and figures that plans rely on.
#include <gtest/gtest.h>
#include <set>
#include "heddle/error.h"
#include "src/support/gpu_target.h"

namespace heddle {
namespace {

TEST(GpuTargets, PrintAndParseBack) {
  std::set<std::string> names;
  for (const GpuTarget& target : GpuTarget::all()) {
    EXPECT_EQ(GpuTarget::parse(target.to_string()), target);
    names.insert(target.to_string());
  }
  EXPECT_EQ(names, (std::set<std::string>{"cuda:sm_80", "cuda:sm_89", "cuda:sm_90", "cuda:sm_100", "cuda:sm_120", "hip:gfx908", "hip:gfx90a",
                                          "hip:gfx942"}));
}

TEST(GpuTargets, UnknownNamesAreRefusedWithTheNearest) {
  try {
    GpuTarget::parse("cuda:sm_81");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(),
              "unknown GPU target 'cuda:sm_81'; expected one of cuda:sm_80, cuda:sm_89, cuda:sm_90, cuda:sm_100, cuda:sm_120, hip:gfx908, "
              "hip:gfx90a, hip:gfx942");
    EXPECT_TRUE(error.hint().starts_with("did you mean cuda:sm_8")) << error.hint();
  }
  EXPECT_THROW(GpuTarget::parse("hip:sm_80"), UserError);
  EXPECT_THROW((GpuTarget{GpuVendor::Hip, "sm_80"}.shared_bytes()), UserError);
}

TEST(GpuTargets, KnowTheirMachines) {
  EXPECT_EQ(GpuTarget::parse("cuda:sm_80").shared_bytes(), 166912);
  EXPECT_EQ(GpuTarget::parse("cuda:sm_89").shared_bytes(), 101376);
  EXPECT_EQ(GpuTarget::parse("cuda:sm_90").shared_bytes(), 232448);
  EXPECT_EQ(GpuTarget::parse("hip:gfx90a").shared_bytes(), 65536);
  EXPECT_EQ(GpuTarget::parse("cuda:sm_90").lanes(), 32);
  EXPECT_EQ(GpuTarget::parse("hip:gfx942").lanes(), 64);
  for (const GpuTarget& target : GpuTarget::all()) {
    EXPECT_GT(target.register_file(), 256 * 128) << target.to_string();  // 256 threads of 128 registers fit
    EXPECT_GE(target.registers(), 255) << target.to_string();
  }
}

}  // namespace
}  // namespace heddle
