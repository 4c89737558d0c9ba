#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "heddle/engine.h"
#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

/// A cache folder that holds the kernels of two masks.
class CacheCommand : public testing::Test {
 protected:
  void SetUp() override {
    Engine engine({.threads = 1, .cache_dir = folder_.path().string()});
    for (const char* mask : {"k <= q", "k <= q && q - k < 64"}) {
      paths_.push_back(engine.attention({.mask = Mask::parse(mask), .head_dim = 16}).report().path);
    }
  }
  Outcome run(const std::string& command, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"cache", command, "--dir", folder_.path().string()});
    return heddle_command(more);
  }
  json run_json(const std::string& command) { return json::parse(run(command, {"--json"}).out); }
  void damage(const std::string& path) {
    std::string bytes = read_file(path);
    bytes[bytes.size() / 2] ^= 1;
    write_file(path, bytes);
  }

  Folder folder_;
  std::vector<std::string> paths_;
};

TEST_F(CacheCommand, ListsWhatIsThere) {
  const json list = run_json("list");
  ASSERT_EQ(list.size(), 2u);
  for (const json& entry : list) {
    EXPECT_TRUE(entry["valid"]);
    EXPECT_EQ(entry["bytes"], std::filesystem::file_size(entry["path"].get<std::string>()));
    EXPECT_NE(entry["summary"], "");
  }
  const std::string text = run("list").out;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST_F(CacheCommand, StatsAddUp) {
  const json stats = run_json("stats");
  EXPECT_EQ(stats["entries"], 2);
  EXPECT_EQ(stats["damaged"], 0);
  EXPECT_EQ(stats["bytes"], std::filesystem::file_size(paths_[0]) + std::filesystem::file_size(paths_[1]));
  EXPECT_EQ(stats["dir"], folder_.path().string());
}

TEST_F(CacheCommand, VerifyFindsDamage) {
  EXPECT_EQ(run("verify").status, 0);
  damage(paths_[0]);
  const Outcome outcome = run("verify");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out,
            "damaged: " + paths_[0] + "\n1 valid, 1 damaged (they count as missing and are compiled again when asked for)\n");
  EXPECT_EQ(run_json("verify"), (json{{"valid", 1}, {"damaged", {paths_[0]}}}));
}

TEST_F(CacheCommand, ClearRemovesEverything) {
  EXPECT_EQ(run_json("clear")["removed"], 2);
  EXPECT_EQ(run("list").out, "the cache is empty\n");
  EXPECT_FALSE(std::filesystem::exists(paths_[0]));
}

TEST_F(CacheCommand, NeedsNoCompiler) {
  const Outcome outcome =
      heddle_command({"cache", "list", "--dir", folder_.path().string()}, {.environment = {{"LD_DEBUG", "files"}}});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("libheddle.so"), std::string::npos);
  EXPECT_EQ(outcome.err.find("libheddle_compiler"), std::string::npos);
  EXPECT_EQ(outcome.err.find("libLLVM"), std::string::npos);
}

TEST_F(CacheCommand, AFileIsNoCache) {
  const Outcome outcome = heddle_command({"cache", "stats", "--dir", paths_[0]});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "heddle: the cache " + paths_[0] + " is a file\nhint: expected a folder; give another one with --dir\n");
}

TEST(CacheFolder, MustBeUsable) {
  const Outcome outcome = heddle_command({"cache", "list", "--dir", "/proc/heddle"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.err.ends_with("heddle: the cache /proc/heddle cannot be used\nhint: give another folder with --dir\n"))
      << outcome.err;
}

TEST(CacheFolder, MayBeEmpty) {
  const Folder folder;
  EXPECT_EQ(heddle_command({"cache", "list", "--dir", folder.path().string()}).out, "the cache is empty\n");
  EXPECT_EQ(heddle_command({"cache", "list", "--json", "--dir", folder.path().string()}).out, "[]\n");
}

TEST(CacheFolder, MustBeNamedSomehow) {
  const Outcome outcome =
      heddle_command({"cache", "stats"}, {.environment = {{"HEDDLE_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", ""}}});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "heddle: there is no cache folder: HEDDLE_CACHE_DIR, XDG_CACHE_HOME and HOME are all unset\nhint: give --dir\n");
}

}  // namespace
}  // namespace heddle::test
