#include "runtime/disk_cache.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <thread>
#include <utility>
#include "runtime/byte_stream.h"
#include "runtime/file_io.h"
#include "src/support/timer.h"

namespace heddle::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "HEDDLEKERNEL";
constexpr uint32_t kFormat = 1;
constexpr std::string_view kSuffix = ".kernel", kLockSuffix = ".lock";
constexpr double kLockMilliseconds = 30'000;
constexpr double kAbandoned = 600;  ///< Seconds. A temporary file this old belongs to a process that died.
constexpr double kClockSkew = 60;   ///< Seconds that clocks of machines which share a folder may differ.
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

std::string encode(const std::string& key_text, const StoredKernel& kernel) {
  ByteWriter body;
  body.put(std::string_view(key_text));
  body.put(std::string_view(serialize(kernel.record)));
  body.put(std::string_view(kernel.object));
  const std::string bytes = body.take();
  ByteWriter file;
  file.put(kMagic);
  file.put(kFormat);
  file.put(std::string_view(digest(bytes)));
  return file.take() + bytes;
}

/// False when the checksum or the form is wrong.
bool decode(std::string_view bytes, std::string& key_text, StoredKernel& kernel) {
  ByteReader reader(bytes);
  std::string_view magic, checksum, record;
  uint32_t format = 0;
  if (!reader.get(magic) || magic != kMagic || !reader.get(format) || format != kFormat) return false;
  if (!reader.get(checksum) || checksum != digest(reader.rest())) return false;
  return reader.get(key_text) && reader.get(record) && reader.get(kernel.object) && reader.done() &&
         deserialize(record, kernel.record);
}

bool ends_with(const fs::path& path, std::string_view suffix) { return path.filename().native().ends_with(suffix); }

bool is_temporary(const fs::path& path) { return path.filename().native().starts_with(kTemporaryPrefix); }

/// Files of the directory; empty when it cannot be read.
std::vector<fs::path> files_of(const std::string& dir) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(dir, error), end; !error && at != end; at.increment(error)) found.push_back(at->path());
  return found;
}

/// Why this process cannot keep kernels in `dir`, which is created when missing; empty when it can.
std::string obstacle(const std::string& dir) {
  if (dir.empty()) return "none of HEDDLE_CACHE_DIR, XDG_CACHE_HOME and HOME is set";
  std::error_code error;
  if (!fs::exists(dir, error)) {
    const fs::path parent = fs::path(dir).parent_path();
    if (!parent.empty()) fs::create_directories(parent, error);
    if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) return fmt::format("{} cannot be created: {}", dir, strerror(errno));
  }
  struct stat status;
  if (stat(dir.c_str(), &status) != 0) return fmt::format("{} cannot be read: {}", dir, strerror(errno));
  if (!S_ISDIR(status.st_mode)) return fmt::format("{} is not a directory", dir);
  if (status.st_uid != geteuid()) return fmt::format("{} belongs to another user", dir);
  if (status.st_mode & kOthersWrite) return fmt::format("other users may write to {} (chmod 700 makes it usable)", dir);
  if (access(dir.c_str(), R_OK | W_OK | X_OK) != 0) return fmt::format("{} cannot be written: {}", dir, strerror(errno));
  return {};
}

/// A regular file of the directory.
struct Aged {
  fs::path path;
  int64_t bytes;
  double age;  ///< Seconds since its last use; below zero where the clock went back.

  /// What was used in the future is older than everything that can be ordered.
  double rank() const { return age < -kClockSkew ? std::numeric_limits<double>::infinity() : age; }
};

double seconds(const timespec& time) { return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec); }

std::optional<Aged> aged_file(const fs::path& path) {
  struct stat status;
  timespec now;
  if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  clock_gettime(CLOCK_REALTIME, &now);
  return Aged{path, status.st_size, seconds(now) - seconds(status.st_mtim)};
}

/// Removes a temporary file or a lock file whose process died. Age tells for temporary files where the file system has no locks.
void sweep(const Aged& file) {
  if (!remove_unlocked(file.path) && is_temporary(file.path) && file.age > kAbandoned) unlink(file.path.c_str());
}

/// Removes the least recently used kernels until all fit into `max_bytes`, and what dead processes left.
void evict(const std::string& dir, int64_t max_bytes, const fs::path& keep) {
  std::vector<Aged> kernels;
  int64_t total = 0;
  for (const fs::path& path : files_of(dir)) {
    const std::optional<Aged> one = aged_file(path);
    if (!one) continue;
    if (is_temporary(path) || ends_with(path, kLockSuffix)) sweep(*one);
    if (is_temporary(path) || !ends_with(path, kSuffix)) continue;
    total += one->bytes;
    if (path != keep) kernels.push_back(*one);
  }
  std::ranges::sort(kernels, std::greater(), &Aged::rank);
  for (auto one = kernels.begin(); one != kernels.end() && total > max_bytes; ++one) {
    if (unlink(one->path.c_str()) == 0 || errno == ENOENT) total -= one->bytes;
  }
}

CacheEntry describe(const fs::path& path) {
  CacheEntry entry;
  entry.key = path.stem();
  entry.path = path;
  struct stat status;
  if (stat(path.c_str(), &status) == 0) {
    entry.bytes = status.st_size;
    entry.last_used = status.st_mtime;
  }
  StoredKernel kernel;
  std::string key_text;
  const std::optional<std::string> bytes = read_own_file(path, kOthersWrite);
  entry.valid = bytes && decode(*bytes, key_text, kernel) && digest(key_text) == entry.key;
  if (entry.valid) entry.summary = kernel.record.summary;
  return entry;
}

/// Locks an open lock file. True when the lock is held and the file still has its name (its last owner may have removed it).
bool lock_now(int file, const std::string& path, bool& replaced) {
  if (flock(file, LOCK_EX | LOCK_NB) != 0) return false;
  replaced = !still_named(file, path);
  return !replaced;
}

}  // namespace

std::string digest(std::string_view key_text) {
  const XXH128_hash_t hash = XXH3_128bits(key_text.data(), key_text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::optional<StoredKernel> read_kernel(const std::string& path) {
  const std::optional<std::string> bytes = read_own_file(path, 0);
  StoredKernel kernel;
  std::string key_text;
  if (!bytes || !decode(*bytes, key_text, kernel)) return std::nullopt;
  return kernel;
}

std::string default_cache_dir() {
  const auto variable = [](const char* name) { return std::string(std::getenv(name) ? std::getenv(name) : ""); };
  if (const std::string dir = variable("HEDDLE_CACHE_DIR"); !dir.empty()) return dir;
  if (const std::string base = variable("XDG_CACHE_HOME"); base.starts_with('/')) return base + "/heddle";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/heddle";
  return {};
}

DiskCache::DiskCache(std::string dir, int64_t max_bytes) : dir_(std::move(dir)), max_bytes_(max_bytes) {
  const std::string why = obstacle(dir_);
  usable_ = why.empty();
  if (!usable_) fmt::print(stderr, "heddle: warning: kernels are not kept on disk: {}\n", why);
}

bool DiskCache::usable() const { return usable_; }

const std::string& DiskCache::dir() const { return dir_; }

std::string DiskCache::path(const std::string& key) const { return fmt::format("{}/{}{}", dir_, key, kSuffix); }

std::optional<StoredKernel> DiskCache::find(const std::string& key, const std::string& key_text) try {
  if (!usable_) return std::nullopt;
  const std::optional<std::string> bytes = read_own_file(path(key), kOthersWrite);
  StoredKernel kernel;
  std::string stored_text;
  if (!bytes || !decode(*bytes, stored_text, kernel) || stored_text != key_text) return std::nullopt;
  utimensat(AT_FDCWD, path(key).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return kernel;
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

bool DiskCache::store(const std::string& key, const std::string& key_text, const StoredKernel& kernel) try {
  if (!usable_) return false;
  const std::string bytes = encode(key_text, kernel);
  if (static_cast<int64_t>(bytes.size()) > max_bytes_) return false;
  if (!replace_file(dir_, key + std::string(kSuffix), bytes)) return false;
  evict(dir_, max_bytes_, path(key));
  return true;
} catch (const std::exception&) {
  return false;
}

std::vector<CacheEntry> DiskCache::list() const {
  std::vector<CacheEntry> entries;
  for (const fs::path& path : usable_ ? files_of(dir_) : std::vector<fs::path>()) {
    if (ends_with(path, kSuffix)) entries.push_back(describe(path));
  }
  std::ranges::sort(entries, {}, &CacheEntry::key);
  return entries;
}

int64_t DiskCache::clear() {
  int64_t removed = 0;
  std::error_code error;
  for (const fs::path& path : usable_ ? files_of(dir_) : std::vector<fs::path>()) {
    if (ends_with(path, kSuffix) || ends_with(path, kLockSuffix) || is_temporary(path)) removed += fs::remove(path, error);
  }
  return removed;
}

DiskCache::Lock::Lock(const DiskCache& cache, const std::string& key) : path_(fmt::format("{}/{}{}", cache.dir(), key, kLockSuffix)) {
  const support::Timer timer;
  while (cache.usable() && timer.milliseconds() < kLockMilliseconds) {
    if (file_ < 0) file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file_ < 0) return;
    bool replaced = false;
    if (lock_now(file_, path_, replaced)) return;
    if (replaced) close(std::exchange(file_, -1));
    if (!replaced) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (file_ >= 0) close(std::exchange(file_, -1));
}

DiskCache::Lock::~Lock() {
  if (file_ < 0) return;
  unlink(path_.c_str());
  close(file_);
}

}  // namespace heddle::runtime
