// The disk cache under several processes: locks, processes killed while they store, full and read-only disks.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>
#include "runtime/disk_cache.h"
#include "test/runtime/child_process.h"
#include "test/temporary_folder.h"

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;
using test::start;
using test::status_of;
using test::TemporaryFolder;

constexpr int64_t kLarge = int64_t{1} << 30;

StoredKernel kernel_of(size_t bytes) {
  StoredKernel kernel;
  kernel.record.symbol = "kernel";
  kernel.record.head_dim = kernel.record.value_dim = kernel.record.block_rows = kernel.record.max_positions = 1;
  kernel.object.assign(bytes, 'k');
  return kernel;
}

/// Look, lock, look again, build. Returns 1 when this process built the kernel.
int get_or_build(const std::string& dir) {
  DiskCache cache(dir, kLarge);
  const std::string key = digest("text");
  if (cache.find(key, "text")) return 0;
  const DiskCache::Lock lock(cache, key);
  if (cache.find(key, "text")) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return cache.store(key, "text", kernel_of(1000)) ? 1 : 2;
}

TEST(DiskCacheProcesses, OneOfManyBuilds) {
  for (int round = 0; round < 10; ++round) {
    const TemporaryFolder folder;
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) children.push_back(start([&] { return get_or_build(folder.path()); }));
    int built = 0;
    for (const pid_t child : children) built += status_of(child);
    EXPECT_EQ(built, 1);
  }
}

TEST(DiskCacheProcesses, LockOfADeadProcessIsFree) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), kLarge);
  const pid_t child = start([&] {
    const DiskCache::Lock lock(cache, "key");
    while (lock.held()) pause();
    return 1;
  });
  const std::string path = folder.path() + "/key.lock";
  while (!fs::exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(child, SIGKILL);
  EXPECT_EQ(status_of(child), -1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(DiskCache::Lock(cache, "key").held());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(DiskCacheProcesses, LockExcludesOtherThreadsAndKeysAreIndependent) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), kLarge);
  std::atomic<int> inside = 0, wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const DiskCache::Lock lock(cache, "key");
        wrong += inside++ != 0;
        --inside;
      }
    });
  }
  const DiskCache::Lock other(cache, "other");
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(DiskCacheProcesses, KilledWhileStoringTheCacheStaysUsable) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), kLarge);
  for (int round = 0; round < 60; ++round) {
    const pid_t child = start([&] {
      for (int i = 0;; ++i) {
        const DiskCache::Lock lock(cache, "k");
        cache.store(digest("text"), "text", kernel_of(static_cast<size_t>(1 + i % 50) * 10'000));
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 173 * round));
    kill(child, SIGKILL);
    status_of(child);
    for (const CacheEntry& entry : cache.list()) EXPECT_TRUE(entry.valid);
  }
  EXPECT_TRUE(cache.store(digest("text"), "text", kernel_of(10)));
  EXPECT_TRUE(cache.find(digest("text"), "text"));
  cache.clear();
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(DiskCacheProcesses, FullDiskStoresNothingAndKillsNothing) {
  const TemporaryFolder folder;
  const pid_t child = start([&] {
    const rlimit limit{5000, 5000};
    setrlimit(RLIMIT_FSIZE, &limit);  // Writing more raises SIGXFSZ, which would end this process.
    DiskCache cache(folder.path(), kLarge);
    const bool large = cache.store(digest("large"), "large", kernel_of(20'000)), small = cache.store(digest("small"), "small", kernel_of(100));
    return (large ? 1 : 0) | (small ? 2 : 0) | (cache.list().size() == 1 ? 4 : 0);
  });
  EXPECT_EQ(status_of(child), 2 | 4);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(DiskCacheProcesses, ReadOnlyFolderIsOff) {
  const TemporaryFolder folder;
  const bool root = geteuid() == 0;
  ASSERT_TRUE(!root || chown(folder.path().c_str(), 65534, 65534) == 0);
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const pid_t child = start([&] {
    if (root && setuid(65534) != 0) return 7;
    testing::internal::CaptureStderr();
    DiskCache cache(folder.path(), kLarge);
    const std::string expected =
        "heddle: warning: kernels are not kept on disk: " + folder.path() + " cannot be written: Permission denied\n";
    return testing::internal::GetCapturedStderr() == expected && !cache.usable() ? 0 : 1;
  });
  EXPECT_EQ(status_of(child), 0);
  fs::permissions(folder.path(), fs::perms::owner_all);
}

}  // namespace
}  // namespace heddle::runtime
