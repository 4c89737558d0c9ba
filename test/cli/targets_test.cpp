#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heddle/target.h"
#include "test/process.h"

namespace heddle::test {
namespace {

TEST(TargetsCommand, SaysWhatCompilesAndRunsHere) {
  const nlohmann::json list = nlohmann::json::parse(heddle_command({"targets", "--json"}).out);
  const std::vector<Target> all = Target::all();
  ASSERT_EQ(list.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(list[i]["target"], all[i].to_string());
    EXPECT_EQ(list[i]["compiles"], true);
    EXPECT_EQ(list[i]["runs"], all[i].runs_here());
    EXPECT_EQ(list[i]["why_not_run"] == "", all[i].runs_here());
  }
}

TEST(TargetsCommand, Text) {
  const Outcome outcome = heddle_command({"targets"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("cpu:avx2\n  compiles here: yes\n  runs here: "), std::string::npos) << outcome.out;
}

/// A command without its compiler library still answers, and says where it looked.
TEST(TargetsCommand, WithoutTheCompilerLibrary) {
  const Folder folder;
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::create_directories(folder / "lib");
  std::filesystem::copy(HEDDLE_BINARY_DIR "/bin/heddle", folder / "bin/heddle");
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_BINARY_DIR "/lib")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("libheddle.so") && !entry.is_symlink())
      std::filesystem::copy(entry.path(), folder / "lib/libheddle.so.0");
  }
  const ProcessOptions options{.environment = {{"HEDDLE_CACHE_DIR", folder / "cache"}}};
  const Outcome targets = run_process(folder / "bin/heddle", {"targets"}, options);
  EXPECT_EQ(targets.status, 0) << targets.err;
  EXPECT_NE(targets.out.find("compiles here: no: "), std::string::npos) << targets.out;
  const Outcome plan = run_process(folder / "bin/heddle", {"plan", "--mask", "k <= q"}, options);
  EXPECT_EQ(plan.status, 2);
  EXPECT_NE(plan.err.find("libheddle_compiler.so"), std::string::npos) << plan.err;
}

}  // namespace
}  // namespace heddle::test
