// Memory, disk, compiler: which is asked, how often, and what stays. The compiler is one of the test, its objects are real.
#include "src/engine/kernel_cache.h"
#include <gtest/gtest.h>
#include <sched.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include "src/engine/problem.h"
#include "test/runtime/elf_builder.h"
#include "test/temporary_folder.h"

namespace heddle::engine {
namespace {

namespace fs = std::filesystem;
using Origin = KernelReport::Origin;
using test::TemporaryFolder;

/// A kernel that returns at once.
std::string object_of(const std::string& symbol) {
  runtime::ElfBuilder elf;
  elf.add_symbol(symbol, elf.add_code("\xc3"), 0);
  return elf.build();
}

void linked_kernel(const AttentionArgs*, int64_t, int64_t, void*) {}

class TestCompiler : public Compiler {
 public:
  CompiledKernel compile(const ir::AttentionProblem& problem) override {
    ++compiled;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (failures > 0 && failures-- > 0) throw ToolchainError("no compiler today");
    CompiledKernel kernel;
    kernel.record.symbol = "kernel", kernel.record.facts = "the facts", kernel.record.plan = "the plan";
    kernel.record.head_dim = problem.head_dim, kernel.record.value_dim = problem.value_dim;
    kernel.record.block_rows = 32, kernel.record.scratch_bytes = 64, kernel.record.max_positions = 1 << 30;
    kernel.object = object_of(symbol);
    kernel.times = {{"facts", 1.0}, {"emit", 2.0}};
    return kernel;
  }
  std::shared_ptr<const void> link(const CompiledKernel&, AttentionKernel& entry) override {
    entry = linked_kernel;
    code = std::make_shared<int>(1);
    return std::exchange(code, nullptr);
  }
  std::string stage(const ir::AttentionProblem&, StageText) override { return {}; }
  std::string gpu_stage(const ir::AttentionProblem&, const GpuTarget&, DType, StageText) override { return {}; }
  FactsReport facts(const FactsRequest&) override { return {}; }
  PictureCells picture(const PictureRequest&) override { return {}; }
  MatrixReport matrix_facts(const MatrixRequest&) override { return {}; }

  std::atomic<int> compiled = 0, failures = 0;
  std::string symbol = "kernel";
  std::shared_ptr<const void> code;
};

ir::AttentionProblem problem_with(int64_t head_dim) {
  AttentionSpec spec;
  spec.head_dim = head_dim;
  return problem_of(spec, Target::host());
}

class KernelCacheTest : public testing::Test {
 protected:
  KernelCache make_cache(bool disk = true) {
    std::optional<runtime::DiskCache> store;
    if (disk) store.emplace(folder.path() + "/cache", int64_t{1} << 28);
    return KernelCache(std::move(store), [this]() -> Compiler& { return compiler; });
  }
  TemporaryFolder folder;
  TestCompiler compiler;
};

TEST_F(KernelCacheTest, CompilesThenRemembersThenReadsFromDisk) {
  KernelCache first = make_cache();
  const KernelCache::Found compiled = first.find(problem_with(64)), again = first.find(problem_with(64));
  EXPECT_EQ(compiled.origin, Origin::Compiled);
  EXPECT_EQ(again.origin, Origin::Memory);
  EXPECT_EQ(again.kernel, compiled.kernel);
  EXPECT_EQ(first.compilations(), 1);
  EXPECT_EQ(compiled.kernel->passes.size(), 2u);
  EXPECT_TRUE(fs::exists(compiled.kernel->path));
  KernelCache second = make_cache();
  const KernelCache::Found read = second.find(problem_with(64));
  EXPECT_EQ(read.origin, Origin::Disk);
  EXPECT_EQ(read.kernel->record, compiled.kernel->record);
  EXPECT_EQ(read.kernel->path, compiled.kernel->path);
  EXPECT_EQ(second.compilations(), 0);
  EXPECT_EQ(compiler.compiled, 1);
  read.kernel->entry(nullptr, 0, 0, nullptr);
}

TEST_F(KernelCacheTest, ReportsAHitWithoutAnalysis) {
  make_cache().find(problem_with(64));
  const KernelCache::Found read = make_cache().find(problem_with(64));
  const KernelReport report = report_of(*read.kernel, read.origin, 1.5);
  EXPECT_EQ(report.origin, Origin::Disk);
  EXPECT_EQ(report.facts, "the facts");
  EXPECT_EQ(report.plan, "the plan");
  EXPECT_EQ(report.block_rows, 32);
  EXPECT_EQ(report.scratch_bytes, 64);
  EXPECT_EQ(report.milliseconds, 1.5);
  EXPECT_EQ(report.key, runtime::digest(key_text(problem_with(64))));
  EXPECT_TRUE(report.passes.empty());
}

TEST_F(KernelCacheTest, DifferentProblemsHaveDifferentKernels) {
  KernelCache cache = make_cache();
  EXPECT_NE(cache.find(problem_with(64)).kernel, cache.find(problem_with(40)).kernel);
  EXPECT_EQ(cache.compilations(), 2);
}

TEST_F(KernelCacheTest, WorksWithoutADisk) {
  KernelCache cache = make_cache(false);
  EXPECT_EQ(cache.find(problem_with(64)).origin, Origin::Compiled);
  EXPECT_EQ(cache.find(problem_with(64)).origin, Origin::Memory);
  EXPECT_EQ(cache.find(problem_with(64)).kernel->path, "");
  EXPECT_EQ(cache.dir(), "");
}

TEST_F(KernelCacheTest, ManyThreadsCompileOneKeyOnce) {
  KernelCache cache = make_cache();
  std::vector<std::thread> threads;
  std::atomic<int> compiled = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] { compiled += cache.find(problem_with(t % 2 ? 64 : 40)).origin == Origin::Compiled; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiler.compiled, 2);
  EXPECT_EQ(compiled, 2);
}

TEST_F(KernelCacheTest, AFailureLeavesNothingAndTheNextTries) {
  KernelCache cache = make_cache();
  compiler.failures = 1;
  EXPECT_THROW(cache.find(problem_with(64)), ToolchainError);
  EXPECT_EQ(cache.compilations(), 0);
  EXPECT_TRUE(fs::is_empty(cache.dir()));
  EXPECT_EQ(cache.find(problem_with(64)).origin, Origin::Compiled);
}

TEST_F(KernelCacheTest, DamagedFilesAreCompiledAnewAndRepaired) {
  const std::string path = make_cache().find(problem_with(64)).kernel->path;
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_EQ(make_cache().find(problem_with(64)).origin, Origin::Compiled);
  EXPECT_EQ(make_cache().find(problem_with(64)).origin, Origin::Disk);
}

TEST_F(KernelCacheTest, ObjectsThatCannotBeLoadedAreCompiledAnew) {
  compiler.symbol = "another";
  make_cache().find(problem_with(64));
  compiler.symbol = "kernel";
  EXPECT_EQ(make_cache().find(problem_with(64)).origin, Origin::Compiled);
  EXPECT_EQ(make_cache().find(problem_with(64)).origin, Origin::Disk);
}

TEST_F(KernelCacheTest, CodeGoesWithItsLastUser) {
  std::weak_ptr<const Kernel> kernel;
  {
    KernelCache cache = make_cache(false);
    KernelCache::Found found = cache.find(problem_with(64));
    kernel = found.kernel;
    found.kernel.reset();
    EXPECT_FALSE(kernel.expired());  // Kept for the next request.
  }
  EXPECT_TRUE(kernel.expired());
}

TEST_F(KernelCacheTest, MemoryHoldsTheMostRecentKernels) {
  KernelCache cache = make_cache(false);
  const KernelCache::Found used = cache.find(problem_with(256));
  std::weak_ptr<const Kernel> first = cache.find(problem_with(1)).kernel;
  for (int64_t i = 0; i < static_cast<int64_t>(KernelCache::kMemoryKernels); ++i) {
    AttentionSpec spec;
    spec.head_dim = 2 + i % 200, spec.value_dim = 1 + i / 200;
    cache.find(problem_of(spec, Target::host()));
  }
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(cache.find(problem_with(256)).origin, Origin::Memory);  // In use, so still known.
  EXPECT_EQ(cache.find(problem_with(1)).origin, Origin::Compiled);
}

TEST(KeyText, NamesProblemAndGenerators) {
  const std::string text = key_text(problem_with(64));
  EXPECT_NE(text.find(ir::canonical_text(problem_with(64))), std::string::npos);
  EXPECT_NE(text.find(generator_digest()), std::string::npos);
  EXPECT_EQ(std::string(generator_digest()).size(), 64u);
  EXPECT_EQ(text.find(HEDDLE_SOURCE_DIR), std::string::npos);
}

TEST(EngineOptions, ThreadsAndTarget) {
  EXPECT_EQ(Engine({.target = {}, .threads = 3, .disk_cache = false, .cache_dir = {}}).threads(), 3);
  EXPECT_GE(Engine({.target = {}, .threads = 0, .disk_cache = false, .cache_dir = {}}).threads(), 1);
  EXPECT_THROW(Engine({.target = {}, .threads = -1, .disk_cache = false, .cache_dir = {}}), UserError);
  const Engine narrow({.target = Target{CpuLevel::Avx2}, .threads = 1, .disk_cache = false, .cache_dir = {}});
  EXPECT_EQ(narrow.target(), Target{CpuLevel::Avx2});
  EXPECT_EQ(narrow.cache_dir(), "");
  EXPECT_EQ(narrow.compilations(), 0);
}

TEST(EngineOptions, ThreadsFollowTheAffinity) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(Engine({.target = {}, .threads = 0, .disk_cache = false, .cache_dir = {}}).threads(), 1);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace heddle::engine
