// Field reports on caches, at the kernel cache: moved folders, failed publications, damage, targets, generators.
#include <gtest/gtest.h>
#include <algorithm>
#include <filesystem>
#include <set>
#include "src/engine/kernel_cache.h"
#include "src/engine/problem.h"
#include "test/runtime/elf_builder.h"
#include "test/temporary_folder.h"

namespace heddle::engine {
namespace {

namespace fs = std::filesystem;
using Origin = KernelReport::Origin;

void linked_kernel(const AttentionArgs*, int64_t, int64_t, void*) {}

/// Its kernels return at once and say what target they are for.
class TinyCompiler : public Compiler {
 public:
  CompiledKernel compile(const ir::AttentionProblem& problem) override {
    CompiledKernel kernel;
    kernel.record.symbol = "kernel", kernel.record.target = problem.target.to_string();
    kernel.record.head_dim = problem.head_dim, kernel.record.value_dim = problem.value_dim;
    kernel.record.block_rows = 32, kernel.record.scratch_bytes = 64, kernel.record.max_positions = 1 << 30;
    runtime::ElfBuilder elf;
    elf.add_symbol("kernel", elf.add_code("\xc3"), 0);
    kernel.object = elf.build();
    return kernel;
  }
  std::shared_ptr<const void> link(const CompiledKernel&, AttentionKernel& entry) override {
    entry = linked_kernel;
    return std::make_shared<int>(1);
  }
  std::string stage(const ir::AttentionProblem&, StageText) override { return {}; }
  std::string gpu_stage(const ir::AttentionProblem&, const GpuTarget&, DType, StageText) override { return {}; }
  FactsReport facts(const FactsRequest&) override { return {}; }
  PictureCells picture(const PictureRequest&) override { return {}; }
  MatrixReport matrix_facts(const MatrixRequest&) override { return {}; }
};

ir::AttentionProblem problem_for(const Target& target) { return problem_of(AttentionSpec(), target); }

class CacheReports : public testing::Test {
 protected:
  /// What a process with this cache folder finds.
  KernelCache::Found find(const std::string& where, const Target& target = Target::host()) {
    KernelCache cache(runtime::DiskCache(where, int64_t{1} << 28), [this]() -> Compiler& { return compiler; });
    return cache.find(problem_for(target));
  }
  test::TemporaryFolder folder;
  const std::string dir = folder.path() + "/cache";
  TinyCompiler compiler;
};

TEST_F(CacheReports, R074_AMovedCacheCompilesNothing) {
  EXPECT_EQ(find(dir).origin, Origin::Compiled);
  fs::rename(dir, folder.path() + "/moved");
  const KernelCache::Found moved = find(folder.path() + "/moved");
  EXPECT_EQ(moved.origin, Origin::Disk);
  EXPECT_TRUE(moved.kernel->path.starts_with(folder.path() + "/moved/"));
}

TEST_F(CacheReports, R077_AFailedPublicationUsesThePrivateBuild) {
  const std::string path = find(dir).kernel->path;
  fs::remove(path);
  fs::create_directories(path + "/in the way");
  const KernelCache::Found found = find(dir);
  EXPECT_EQ(found.origin, Origin::Compiled);
  EXPECT_EQ(found.kernel->path, "");
  ASSERT_TRUE(found.kernel->entry);
  fs::remove_all(path);
  EXPECT_EQ(find(dir).origin, Origin::Compiled);
  EXPECT_EQ(find(dir).origin, Origin::Disk);
}

TEST_F(CacheReports, R078_TruncatedEntriesAreCompiledAnew) {
  const std::string path = find(dir).kernel->path;
  const uintmax_t whole = fs::file_size(path);
  for (const uintmax_t size : {uintmax_t{0}, uintmax_t{1}, uintmax_t{100}, whole / 2}) {
    fs::resize_file(path, size);
    EXPECT_EQ(find(dir).origin, Origin::Compiled) << size;
    EXPECT_EQ(fs::file_size(path), whole);
    EXPECT_EQ(find(dir).origin, Origin::Disk) << size;
  }
}

TEST_F(CacheReports, R079_WithoutAUsableFolderKernelsStillRun) {
  testing::internal::CaptureStderr();
  const KernelCache::Found found = find("/dev/null/below");
  EXPECT_EQ(found.origin, Origin::Compiled);
  ASSERT_TRUE(found.kernel->entry);
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 1) << warning;
}

TEST_F(CacheReports, R080_EveryTargetHasItsOwnEntry) {
  std::set<std::string> keys;
  for (const Target& target : Target::all()) keys.insert(find(dir, target).kernel->key);
  EXPECT_EQ(keys.size(), Target::all().size());
  for (const Target& target : Target::all()) {
    const KernelCache::Found found = find(dir, target);
    EXPECT_EQ(found.origin, Origin::Disk);
    EXPECT_EQ(found.kernel->record.target, target.to_string());
    EXPECT_EQ(found.kernel->entry != nullptr, target.runs_here());
  }
}

/// One field more or less does not compile here, so that no option is forgotten in the key.
TEST_F(CacheReports, R081_EveryPlanOptionIsInTheKey) {
  ir::AttentionProblem problem = problem_for(Target::host());
  auto& [tile_rows, use_nests] = problem.options;
  std::set<std::string> keys = {key_text(problem)};
  tile_rows = 32;
  keys.insert(key_text(problem));
  tile_rows = 64;
  keys.insert(key_text(problem));
  use_nests = false;
  keys.insert(key_text(problem));
  use_nests = true;
  keys.insert(key_text(problem));
  EXPECT_EQ(keys.size(), 5u);
}

}  // namespace
}  // namespace heddle::engine
