#include "heddle/target.h"
#include <gtest/gtest.h>
#include "heddle/error.h"

namespace heddle {
namespace {

TEST(Target, PrintsAndParsesBack) {
  for (const Target& target : Target::all()) EXPECT_EQ(Target::parse(target.to_string()), target);
  EXPECT_EQ(Target{CpuLevel::Avx512}.to_string(), "cpu:avx512");
  EXPECT_NE(Target::parse("cpu:avx2"), Target::parse("cpu:avx512"));
}

TEST(Target, UnknownTextNamesTheAcceptedForms) {
  for (const char* text : {"", "cpu", "cpu:sse", "CPU:avx2", "cpu:avx2 "}) {
    try {
      Target::parse(text);
      FAIL() << text;
    } catch (const UserError& error) {
      EXPECT_EQ(error.message(), "unknown target '" + std::string(text) + "'; expected one of cpu:aarch64, cpu:x86-64, cpu:avx2, cpu:avx512, cpu:avx512-bf16");
    }
  }
}

TEST(Target, HostIsTheBestThatRuns) {
  const Target host = Target::host();
  std::string why = "untouched";
  EXPECT_TRUE(host.runs_here(&why));
  EXPECT_EQ(why, "untouched");
  const std::vector<Target> all = Target::all();
  for (size_t i = all.size(); i-- > 0 && all[i] != host;) EXPECT_TRUE(!all[i].runs_here() || all[i].bfloat16_dots);
}

TEST(Target, RefusalNamesWhatIsMissing) {
  for (const Target& target : Target::all()) {
    std::string why;
    const bool runs = target.runs_here(&why);
    EXPECT_EQ(runs, why.empty()) << target.to_string();
  }
}

TEST(Target, FeaturesGrowWithTheLevel) {
  const std::string avx2 = Target{CpuLevel::Avx2}.features(), avx512 = Target{CpuLevel::Avx512}.features();
  for (const char* feature : {"+avx2", "+fma", "+f16c"}) EXPECT_NE(avx2.find(feature), std::string::npos) << feature;
  EXPECT_EQ(avx2.find("avx512"), std::string::npos);
  EXPECT_TRUE(avx512.starts_with(avx2 + ",")) << avx512;
  EXPECT_NE(avx512.find("+avx512f"), std::string::npos);
  EXPECT_EQ((Target{CpuLevel::Avx512, true}.features()), avx512 + ",+avx512bf16");
  EXPECT_EQ(Target{CpuLevel::X86_64}.features(), "+sse2");
  EXPECT_EQ(Target{CpuLevel::X86_64}.lanes(), 4);
  EXPECT_FALSE(Target{CpuLevel::X86_64}.fuses());
  EXPECT_EQ(Target{CpuLevel::Avx512}.lanes(), 16);
  EXPECT_EQ(Target{CpuLevel::Avx2}.lanes(), 8);
}

}  // namespace
}  // namespace heddle
