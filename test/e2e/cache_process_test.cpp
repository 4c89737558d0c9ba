// Processes that share a cache folder: the first compiles, the others read; a hit opens neither the compiler nor LLVM.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "test/e2e/attention_fixture.h"
#include "test/e2e/child.h"
#include "test/process.h"

namespace heddle::test {
namespace {

std::string dir(const Folder& folder) { return folder.path().string(); }

void expect_compiled(const ChildReport& found) {
  EXPECT_EQ(found.status, 0) << found.errors;
  EXPECT_EQ(found.origin, "compiled");
  EXPECT_EQ(found.compilations, 1);
  EXPECT_TRUE(found.compiler);
  EXPECT_TRUE(found.llvm);
}

void expect_from_disk(const ChildReport& found) {
  EXPECT_EQ(found.status, 0) << found.errors;
  EXPECT_EQ(found.origin, "disk");
  EXPECT_EQ(found.compilations, 0);
  EXPECT_FALSE(found.compiler);
  EXPECT_FALSE(found.llvm);
  EXPECT_FALSE(found.isl);
}

class CacheProcesses : public testing::Test {
 protected:
  Folder cache;
};

TEST_F(CacheProcesses, AHitRunsTheSameCodeWithoutTheCompiler) {
  const ChildReport cold = run_child(dir(cache)), warm = run_child(dir(cache));
  expect_compiled(cold);
  expect_from_disk(warm);
  EXPECT_EQ(cold.output.size(), 2u * 100 * 64 * 4);
  EXPECT_EQ(cold.output, warm.output);
  EXPECT_EQ(cold.path, warm.path);
  EXPECT_TRUE(std::filesystem::is_regular_file(cold.path));
  EXPECT_EQ(cold.errors + warm.errors, "");
}

TEST_F(CacheProcesses, SeveralAtOnceCompileOnce) {
  Child first(dir(cache), "k <= q"), second(dir(cache), "k <= q"), third(dir(cache), "q >= k");
  const ChildReport found[] = {first.wait(), second.wait(), third.wait()};
  int compilations = 0;
  for (const ChildReport& one : found) {
    EXPECT_EQ(one.status, 0) << one.errors;
    EXPECT_EQ(one.output, found[0].output);
    compilations += one.compilations;
  }
  EXPECT_EQ(compilations, found[0].path == found[2].path ? 1 : 2);
}

/// A causal window of w keys, and what a child must find for it.
struct Window {
  std::string mask() const { return "k <= q && q - k < " + std::to_string(w); }
  void expect_right(const ChildReport& found) const {
    ASSERT_EQ(found.status, 0) << found.errors;
    Data data({.batch = 1, .heads = 2, .kv_heads = 1, .sq = 100, .sk = 100});
    ASSERT_EQ(found.output.size(), data.o.size() * sizeof(float));
    std::copy_n(found.output.data(), found.output.size(), reinterpret_cast<char*>(data.o.data()));
    const Expected expected = judge(data, [this](const Pair& p) { return p.k <= p.q && p.q - p.k < w; }, plain, 1.0 / 8);
    EXPECT_LE(distance(data.o, expected.o), 16e-6) << mask();
  }
  int64_t w;
};

/// Processes that start together, one a window, on one folder; returns how many kernels they compiled.
int run_together(const std::string& cache, const std::vector<Window>& windows) {
  std::vector<std::unique_ptr<Child>> children;
  for (const Window& one : windows) children.push_back(std::make_unique<Child>(cache, one.mask()));
  int compilations = 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    const ChildReport found = children[i]->wait();
    windows[i].expect_right(found);
    EXPECT_EQ(found.errors, "");
    compilations += found.compilations;
  }
  return compilations;
}

TEST_F(CacheProcesses, EightProcessesOnOneKey) {
  EXPECT_EQ(run_together(dir(cache), std::vector<Window>(8, {50})), 1);
  expect_from_disk(run_child(dir(cache), Window{50}.mask()));
}

TEST_F(CacheProcesses, EightProcessesOnFourKeysAndOnEight) {
  EXPECT_EQ(run_together(dir(cache), {{11}, {12}, {13}, {14}, {11}, {12}, {13}, {14}}), 4);
  EXPECT_EQ(run_together(dir(cache), {{11}, {12}, {13}, {14}, {15}, {16}, {17}, {18}}), 4);
  EXPECT_EQ(run_together(dir(cache), {{11}, {12}, {13}, {14}, {15}, {16}, {17}, {18}}), 0);
}

TEST_F(CacheProcesses, AnotherFormulaIsAMiss) {
  expect_compiled(run_child(dir(cache)));
  expect_compiled(run_child(dir(cache), "k <= q && q - k < 78"));
}

TEST_F(CacheProcesses, DamageIsRepaired) {
  const ChildReport cold = run_child(dir(cache));
  std::string bytes = read_file(cold.path);
  bytes[bytes.size() / 2] ^= 1;
  write_file(cold.path, bytes);
  const ChildReport again = run_child(dir(cache)), warm = run_child(dir(cache));
  expect_compiled(again);
  expect_from_disk(warm);
  EXPECT_EQ(again.output, cold.output);
  EXPECT_EQ(warm.output, cold.output);
}

TEST_F(CacheProcesses, AFolderFullOfRubbishIsNoObstacle) {
  const ChildReport cold = run_child(dir(cache));
  const std::filesystem::path kernel = cold.path;
  std::filesystem::remove(kernel);
  std::filesystem::create_directory(kernel);  // A folder where the kernel belongs.
  std::filesystem::create_directory(cache / "a folder");
  std::filesystem::create_symlink("/nowhere", cache / "dangling");
  for (const char* name : {"rubbish", "x.heddle", ".hidden", "0123456789abcdef0123456789abcdef"})
    write_file(cache / name, std::string(3000, '\xff'));
  const ChildReport beside = run_child(dir(cache), "k <= q");
  expect_compiled(beside);
  expect_from_disk(run_child(dir(cache), "k <= q"));
  const ChildReport blocked = run_child(dir(cache));
  expect_compiled(blocked);
  EXPECT_EQ(blocked.output, cold.output);
}

TEST_F(CacheProcesses, AMissingFolderIsMade) {
  const std::string deep = cache / "one/two/three";
  expect_compiled(run_child(deep));
  expect_from_disk(run_child(deep));
}

TEST_F(CacheProcesses, AFolderThatCannotBeMadeCostsAWarning) {
  write_file(cache / "file", "not a folder");
  for (const std::string& folder : {cache / "file", cache / "file/below", std::string("/proc/heddle")}) {
    const ChildReport found = run_child(folder);
    expect_compiled(found);
    EXPECT_EQ(found.path, "") << folder;
    EXPECT_NE(found.errors.find(folder), std::string::npos) << found.errors;
    EXPECT_EQ(std::count(found.errors.begin(), found.errors.end(), '\n'), 1) << found.errors;
  }
}

/// Root may write everywhere, so that root becomes somebody else.
TEST_F(CacheProcesses, AReadOnlyFolderCostsAWarning) {
  constexpr uid_t kNobody = 65534;
  const uid_t user = geteuid() == 0 ? kNobody : 0;
  if (user != 0) {
    ASSERT_EQ(chown(dir(cache).c_str(), user, 0), 0);
  }
  ASSERT_EQ(chmod(dir(cache).c_str(), 0500), 0);
  const ChildReport found = Child(dir(cache), "k <= q", user).wait();
  ASSERT_EQ(chmod(dir(cache).c_str(), 0700), 0);
  if (found.status >= 126) GTEST_SKIP() << "the build folder is closed to other users";
  expect_compiled(found);
  EXPECT_EQ(found.path, "");
  EXPECT_NE(found.errors.find(dir(cache)), std::string::npos) << found.errors;
}

}  // namespace
}  // namespace heddle::test
