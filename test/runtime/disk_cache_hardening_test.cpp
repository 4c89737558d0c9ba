// The disk cache against everything that goes wrong with shared folders: crowds, kill -9, full disks, hostile files, clocks.
#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <random>
#include <thread>
#include "runtime/disk_cache.h"
#include "runtime/file_io.h"
#include "test/runtime/child_process.h"
#include "test/temporary_folder.h"

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;
using test::start;
using test::status_of;
using test::TemporaryFolder;

constexpr int64_t kLarge = int64_t{1} << 30;

/// Contents that only this name and size have.
StoredKernel kernel_of(const std::string& name, size_t bytes = 3000) {
  StoredKernel kernel;
  kernel.record.symbol = name;
  kernel.record.head_dim = kernel.record.value_dim = kernel.record.block_rows = kernel.record.max_positions = 1;
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(name)));
  while (kernel.object.size() < bytes) kernel.object += static_cast<char>(random());
  return kernel;
}

bool put(DiskCache& cache, const std::string& name, size_t bytes = 3000) {
  return cache.store(digest(name), name, kernel_of(name, bytes));
}

enum class Look { Miss, Right, Wrong };

Look look(DiskCache& cache, const std::string& name) {
  const std::optional<StoredKernel> found = cache.find(digest(name), name);
  if (!found) return Look::Miss;
  return found->record.symbol == name && found->object == kernel_of(name, found->object.size()).object ? Look::Right : Look::Wrong;
}

/// Runs `body(i)` in `count` processes at once; their exit statuses.
std::vector<int> crowd(int count, const std::function<int(int)>& body) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) children.push_back(start([&] { return body(i); }));
  std::vector<int> statuses;
  for (const pid_t child : children) statuses.push_back(status_of(child));
  return statuses;
}

int64_t files_in(const std::string& dir) { return std::distance(fs::directory_iterator(dir), {}); }

int64_t bytes_in(const DiskCache& cache) {
  int64_t bytes = 0;
  for (const CacheEntry& entry : cache.list()) bytes += entry.bytes;
  return bytes;
}

/// Look, lock, look again, build. 1 when this process built it, 100 for a wrong kernel.
int get_or_build(DiskCache& cache, const std::string& name) {
  if (const Look seen = look(cache, name); seen != Look::Miss) return seen == Look::Right ? 0 : 100;
  const DiskCache::Lock lock(cache, digest(name));
  if (const Look seen = look(cache, name); seen != Look::Miss) return seen == Look::Right ? 0 : 100;
  return put(cache, name) && look(cache, name) == Look::Right ? 1 : 100;
}

TEST(DiskCacheHardening, R075_SixteenProcessesOnEightKeysLeaveEightEntries) {
  const TemporaryFolder folder;
  const std::vector<int> built = crowd(16, [&](int first) {
    DiskCache cache(folder.path(), kLarge);
    int sum = 0;
    for (int i = 0; i < 8; ++i) sum += get_or_build(cache, "kernel" + std::to_string((first + i) % 8));
    return sum;
  });
  int total = 0;
  for (const int one : built) total += one;
  EXPECT_EQ(total, 8);
  const std::vector<CacheEntry> entries = DiskCache(folder.path(), kLarge).list();
  EXPECT_EQ(entries.size(), 8u);
  for (const CacheEntry& entry : entries) EXPECT_TRUE(entry.valid) << entry.path;
  EXPECT_EQ(files_in(folder.path()), 8);
}

TEST(DiskCacheHardening, CrowdsHoldTheSizeBoundAndReadNothingWrong) {
  const TemporaryFolder folder;
  constexpr int64_t kBound = 40'000;
  const std::vector<int> wrong = crowd(8, [&](int process) {
    DiskCache cache(folder.path(), kBound);
    std::mt19937 random(static_cast<unsigned>(process));
    int bad = 0;
    for (int i = 0; i < 150; ++i) {
      const std::string name = "kernel" + std::to_string(random() % 30);
      bad += look(cache, name) == Look::Wrong;
      bad += !put(cache, name, 1000 + random() % 4000);
    }
    return bad;
  });
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
  DiskCache cache(folder.path(), kBound);
  EXPECT_LE(bytes_in(cache), kBound);
  EXPECT_GT(bytes_in(cache), kBound / 2);  // Nobody evicts for what another has removed already.
  EXPECT_EQ(files_in(folder.path()), static_cast<int64_t>(cache.list().size()));
}

TEST(DiskCacheHardening, KilledAtRandomPointsEveryEntryIsWholeAndNothingPilesUp) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), kLarge);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const pid_t child = start([&] {
      for (int i = round;; ++i) {
        const std::string name = "kernel" + std::to_string(i % 40);
        const DiskCache::Lock lock(cache, digest(name));
        put(cache, name, 500 + static_cast<size_t>(i * 7919 % 60'000));
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
    kill(child, SIGKILL);
    status_of(child);
  }
  for (int i = 0; i < 40; ++i) EXPECT_NE(look(cache, "kernel" + std::to_string(i)), Look::Wrong) << i;
  EXPECT_TRUE(put(cache, "last"));
  for (const CacheEntry& entry : cache.list()) EXPECT_TRUE(entry.valid) << entry.path;
  EXPECT_EQ(files_in(folder.path()), static_cast<int64_t>(cache.list().size()));
}

TEST(DiskCacheHardening, R076_AfterAKillInMidBuildTheNextNeedsNoCleanup) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), kLarge);
  const pid_t child = start([&] {
    const DiskCache::Lock lock(cache, digest("kernel"));
    std::ofstream(folder.path() + "/.new-begun") << "half a kern";
    while (true) pause();
    return 0;
  });
  while (!fs::exists(folder.path() + "/.new-begun")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(child, SIGKILL);
  status_of(child);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(get_or_build(cache, "kernel"), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(DiskCacheHardening, TemporaryFilesOfLivingProcessesStay) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), kLarge);
  const std::string dead = folder.path() + "/.new-dead", live = folder.path() + "/.new-live";
  const File locked(open(live.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(locked.get(), LOCK_EX), 0);
  std::ofstream(dead) << "x";
  const DiskCache::Lock lock(cache, "compiled elsewhere");
  std::ofstream(folder.path() + "/forgotten.lock") << "";
  put(cache, "a");
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(live));
  EXPECT_FALSE(fs::exists(folder.path() + "/forgotten.lock"));
  EXPECT_TRUE(fs::exists(folder.path() + "/compiled elsewhere.lock"));
  fs::last_write_time(live, fs::file_time_type::clock::now() - std::chrono::hours(1));
  put(cache, "b");
  EXPECT_FALSE(fs::exists(live));  // No writer takes an hour.
}

TEST(DiskCacheHardening, R077_APublicationThatFailsLeavesThePrivateBuild) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), kLarge);
  fs::create_directories(cache.path(digest("kernel")) + "/in the way");
  EXPECT_FALSE(put(cache, "kernel"));
  EXPECT_EQ(look(cache, "kernel"), Look::Miss);
  EXPECT_EQ(files_in(folder.path()), 1);
  EXPECT_TRUE(put(cache, "another"));
}

TEST(DiskCacheHardening, R078_TruncatedObjectsAreMissesAndReplaced) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), kLarge);
  put(cache, "kernel");
  const std::string path = cache.path(digest("kernel"));
  const uintmax_t whole = fs::file_size(path);
  for (const uintmax_t size : {uintmax_t{0}, uintmax_t{1}, uintmax_t{100}, whole / 2}) {
    fs::resize_file(path, size);
    EXPECT_EQ(look(cache, "kernel"), Look::Miss) << size;
    EXPECT_EQ(get_or_build(cache, "kernel"), 1);
    EXPECT_EQ(fs::file_size(path), whole);
  }
}

TEST(DiskCacheHardening, R079_AFullDiskStoresNothing) {
  const File full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  EXPECT_FALSE(write_and_sync(full.get(), "some bytes"));
  for (const rlim_t quota : {rlim_t{0}, rlim_t{1}, rlim_t{2000}}) {
    const TemporaryFolder folder;
    const pid_t child = start([&] {
      const rlimit limit{quota, quota};
      setrlimit(RLIMIT_FSIZE, &limit);
      DiskCache cache(folder.path(), kLarge);
      return !put(cache, "kernel") && look(cache, "kernel") == Look::Miss ? 0 : 1;
    });
    EXPECT_EQ(status_of(child), 0) << quota;
    EXPECT_TRUE(fs::is_empty(folder.path())) << quota;
  }
}

TEST(DiskCacheHardening, FilesThatOthersMayWriteAreMissesAndReplaced) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), kLarge);
  const std::string path = cache.path(digest("kernel"));
  for (const mode_t mode : {0620, 0602, 0666}) {
    put(cache, "kernel");
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(look(cache, "kernel"), Look::Miss) << mode;
    EXPECT_FALSE(cache.list()[0].valid) << mode;
  }
  EXPECT_EQ(get_or_build(cache, "kernel"), 1);
}

TEST(DiskCacheHardening, LinksInPlaceOfLocksAndFoldersAreNotFollowed) {
  const TemporaryFolder folder;
  const std::string victim = folder.path() + "/victim", dir = folder.path() + "/cache";
  std::ofstream(victim) << "precious";
  DiskCache cache(dir, kLarge);
  fs::create_symlink(victim, dir + "/key.lock");
  fs::create_symlink(victim, dir + "/.new-link");
  EXPECT_FALSE(DiskCache::Lock(cache, "key").held());
  EXPECT_TRUE(put(cache, "kernel"));
  EXPECT_EQ(fs::file_size(victim), 8u);
  fs::create_symlink(folder.path() + "/nowhere", folder.path() + "/dangling");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(DiskCache(folder.path() + "/dangling", kLarge).usable());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("dangling"), std::string::npos);
}

TEST(DiskCacheHardening, AfterTheClockWentBackTheOldFilesGoFirst) {
  const TemporaryFolder folder;
  DiskCache large(folder.path(), kLarge);
  for (const char* name : {"future1", "future2", "new"}) put(large, name);
  for (const char* name : {"future1", "future2"}) {
    fs::last_write_time(large.path(digest(name)), fs::file_time_type::clock::now() + std::chrono::hours(24));
  }
  DiskCache small(folder.path(), static_cast<int64_t>(2.5 * static_cast<double>(fs::file_size(large.path(digest("new"))))));
  put(small, "newer");
  EXPECT_EQ(look(small, "new"), Look::Right);
  EXPECT_EQ(look(small, "newer"), Look::Right);
  EXPECT_EQ(small.list().size(), 2u);
}

}  // namespace
}  // namespace heddle::runtime
