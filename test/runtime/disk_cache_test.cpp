#include "runtime/disk_cache.h"
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <iterator>
#include "test/temporary_folder.h"

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

constexpr int64_t kLarge = int64_t{1} << 30;

StoredKernel kernel_of(const std::string& name, size_t bytes = 100) {
  StoredKernel kernel;
  kernel.record.symbol = name, kernel.record.summary = "summary of " + name;
  kernel.record.head_dim = kernel.record.value_dim = kernel.record.block_rows = kernel.record.max_positions = 1;
  kernel.object.assign(bytes, name[0]);
  return kernel;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// A cache in a fresh folder, with names as key texts.
class DiskCacheTest : public testing::Test {
 protected:
  bool put(const std::string& name, size_t bytes = 100) { return cache.store(digest(name), name, kernel_of(name, bytes)); }
  bool has(const std::string& name) { return cache.find(digest(name), name).has_value(); }
  std::string file(const std::string& name) { return cache.path(digest(name)); }
  void set_age(const std::string& name, int hours) {
    fs::last_write_time(file(name), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }

  TemporaryFolder folder;
  DiskCache cache{folder.path() + "/cache", kLarge};
};

TEST_F(DiskCacheTest, FindsWhatWasStored) {
  EXPECT_FALSE(has("a"));
  ASSERT_TRUE(put("a"));
  const std::optional<StoredKernel> found = cache.find(digest("a"), "a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->record, kernel_of("a").record);
  EXPECT_EQ(found->object, kernel_of("a").object);
  EXPECT_FALSE(has("b"));
  DiskCache again(cache.dir(), kLarge);
  EXPECT_TRUE(again.find(digest("a"), "a"));
}

TEST_F(DiskCacheTest, FolderAndFilesArePrivate) {
  put("a");
  struct stat status;
  ASSERT_EQ(stat(cache.dir().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  ASSERT_EQ(stat(file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST_F(DiskCacheTest, LeavesNoOtherFiles) {
  put("a");
  put("a");
  { const DiskCache::Lock lock(cache, digest("a")); }
  EXPECT_EQ(std::distance(fs::directory_iterator(cache.dir()), {}), 1);
}

TEST_F(DiskCacheTest, AnotherTextUnderTheSameKeyIsAMiss) {
  cache.store(digest("a"), "a", kernel_of("a"));
  EXPECT_FALSE(cache.find(digest("a"), "another text"));
}

TEST_F(DiskCacheTest, EveryTruncationIsAMissAndRepaired) {
  put("a");
  const std::string whole = read(file("a"));
  for (size_t size = 0; size < whole.size(); ++size) {
    write(file("a"), whole.substr(0, size));
    EXPECT_FALSE(has("a")) << size;
  }
  write(file("a"), whole + "x");
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(put("a"));
  EXPECT_TRUE(has("a"));
}

TEST_F(DiskCacheTest, EveryFlippedBitIsAMiss) {
  put("a");
  const std::string whole = read(file("a"));
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    write(file("a"), flipped);
    EXPECT_FALSE(has("a")) << bit;
  }
  EXPECT_FALSE(cache.list()[0].valid);
}

TEST_F(DiskCacheTest, LinksAndFoldersAreMisses) {
  put("a");
  fs::rename(file("a"), folder.path() + "/elsewhere");
  fs::create_symlink(folder.path() + "/elsewhere", file("a"));
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(put("a"));
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(fs::is_symlink(file("a")));
  fs::create_directory(file("b"));
  EXPECT_FALSE(has("b"));
  EXPECT_FALSE(put("b"));
}

TEST_F(DiskCacheTest, FilesOfOtherUsersAreMisses) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  put("a");
  ASSERT_EQ(chown(file("a").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(put("a"));
  EXPECT_TRUE(has("a"));
}

TEST_F(DiskCacheTest, LeastRecentlyUsedGoesFirst) {
  const std::vector<std::string> names = {"a", "b", "c"};
  for (const std::string& name : names) put(name, 1000);
  const int64_t one = static_cast<int64_t>(fs::file_size(file("a")));
  set_age("a", 3), set_age("b", 2), set_age("c", 1);
  EXPECT_TRUE(has("a"));  // Marks it as used now.
  DiskCache small(cache.dir(), 3 * one);
  EXPECT_TRUE(small.store(digest("d"), "d", kernel_of("d", 1000)));
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(fs::exists(file("b")));
  EXPECT_TRUE(has("c"));
  EXPECT_TRUE(has("d"));
}

TEST_F(DiskCacheTest, KernelsLargerThanTheBoundAreNotStored) {
  DiskCache tiny(cache.dir(), 50);
  EXPECT_FALSE(tiny.store(digest("a"), "a", kernel_of("a")));
  EXPECT_FALSE(has("a"));
}

TEST_F(DiskCacheTest, ListsAndClears) {
  put("a"), put("b");
  write(file("b"), "damaged");
  std::vector<CacheEntry> entries = cache.list();
  ASSERT_EQ(entries.size(), 2u);
  const auto a = std::ranges::find(entries, digest("a"), &CacheEntry::key), b = std::ranges::find(entries, digest("b"), &CacheEntry::key);
  EXPECT_TRUE(a->valid);
  EXPECT_EQ(a->summary, "summary of a");
  EXPECT_EQ(a->bytes, static_cast<int64_t>(fs::file_size(file("a"))));
  EXPECT_NEAR(static_cast<double>(a->last_used), static_cast<double>(time(nullptr)), 60);
  EXPECT_FALSE(b->valid);
  EXPECT_EQ(cache.clear(), 2);
  EXPECT_TRUE(cache.list().empty());
}

TEST(Digest, Is128BitsOfHex) {
  EXPECT_EQ(digest("").size(), 32u);
  EXPECT_EQ(digest("").find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(digest(""), "99aa06d3014798d86001c324468d497f");  // XXH3-128 of nothing, as published.
  EXPECT_NE(digest("a"), digest("b"));
}

TEST(DefaultCacheDir, FollowsTheEnvironment) {
  const auto set = [](const char* heddle, const char* xdg, const char* home) {
    const std::pair<const char*, const char*> all[] = {{"HEDDLE_CACHE_DIR", heddle}, {"XDG_CACHE_HOME", xdg}, {"HOME", home}};
    for (const auto& [name, value] : all) value ? setenv(name, value, 1) : unsetenv(name);
    return default_cache_dir();
  };
  EXPECT_EQ(set("/own", "/xdg", "/u"), "/own");
  EXPECT_EQ(set("", "/xdg", "/u"), "/xdg/heddle");
  EXPECT_EQ(set(nullptr, "relative", "/u"), "/u/.cache/heddle");
  EXPECT_EQ(set(nullptr, nullptr, "/u"), "/u/.cache/heddle");
  EXPECT_EQ(set(nullptr, nullptr, nullptr), "");
}

/// What the constructor prints on standard error for a folder it cannot use.
std::string warning(const std::string& dir) {
  testing::internal::CaptureStderr();
  DiskCache cache(dir, kLarge);
  EXPECT_FALSE(cache.usable());
  EXPECT_FALSE(cache.store(digest("a"), "a", kernel_of("a")));
  EXPECT_FALSE(cache.find(digest("a"), "a"));
  EXPECT_TRUE(cache.list().empty());
  EXPECT_EQ(cache.clear(), 0);
  return testing::internal::GetCapturedStderr();
}

TEST(UnusableFolder, GivesOneWarningAndIsOff) {
  const TemporaryFolder folder;
  const std::string head = "heddle: warning: kernels are not kept on disk: ", path = folder.path() + "/x";
  EXPECT_EQ(warning(""), head + "none of HEDDLE_CACHE_DIR, XDG_CACHE_HOME and HOME is set\n");
  write(path, "a file");
  EXPECT_EQ(warning(path), head + path + " is not a directory\n");
  EXPECT_EQ(warning(path + "/below"), head + path + "/below cannot be created: Not a directory\n");
}

TEST(UnusableFolder, OthersMustNotWriteIt) {
  const TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0777), 0);
  EXPECT_EQ(warning(folder.path()), "heddle: warning: kernels are not kept on disk: other users may write to " + folder.path() +
                                        " (chmod 700 makes it usable)\n");
}

TEST(UnusableFolder, MustBelongToTheUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  const TemporaryFolder folder;
  ASSERT_EQ(chown(folder.path().c_str(), 65534, 65534), 0);
  EXPECT_EQ(warning(folder.path()), "heddle: warning: kernels are not kept on disk: " + folder.path() + " belongs to another user\n");
}

}  // namespace
}  // namespace heddle::runtime
