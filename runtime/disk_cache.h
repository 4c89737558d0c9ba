// The content-checked store of compiled kernels on disk. Processes killed at any point leave it usable.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "heddle/kernel_abi.h"

namespace heddle::runtime {

/// A stored kernel: its record and its object file.
struct StoredKernel {
  LaunchRecord record;
  std::string object;
};

/// One file of the cache, for listings.
struct CacheEntry {
  std::string key, path, summary;
  int64_t bytes = 0;
  int64_t last_used = 0;  ///< Unix seconds.
  bool valid = false;     ///< Checksum and form are right.
};

/// 128-bit hex digest (XXH3) of a cache key text: the file name of its entry.
std::string digest(std::string_view key_text);

/// The kernel in a file of the cache, wherever the file lies now. Nothing when it is not whole, of another version or not this user's.
std::optional<StoredKernel> read_kernel(const std::string& path);

/// $HEDDLE_CACHE_DIR, else $XDG_CACHE_HOME/heddle, else $HOME/.cache/heddle; empty when none of them is set.
std::string default_cache_dir();

/// Files are <dir>/<key>.kernel: magic, version, XXH3-128 of the rest, the whole key text (compared on a hit), record, object.
/// Writing: private temporary file, fsync, atomic rename. A wrong checksum, a short file, another key text, a foreign owner or a file
/// that others may write is a miss; the next store repairs it. A store evicts the least recently used kernels beyond the bound and
/// sweeps up the temporary files and lock files of processes that died. What is loaded is executed, so that the directory must belong
/// to this user (root too) and be writable by nobody else. A directory that cannot be used gives one warning on standard error, then
/// the cache is off.
class DiskCache {
 public:
  DiskCache(std::string dir, int64_t max_bytes);
  bool usable() const;
  const std::string& dir() const;
  std::string path(const std::string& key) const;
  /// Marks the entry as used. Never throws.
  std::optional<StoredKernel> find(const std::string& key, const std::string& key_text);
  /// Returns false when it could not be stored (disk full, read-only): the caller goes on without. Never throws.
  bool store(const std::string& key, const std::string& key_text, const StoredKernel& kernel);
  /// Holds an inter-process lock on a key while alive, so that two processes compile it once.
  class Lock;
  std::vector<CacheEntry> list() const;
  int64_t clear();  ///< Number of files removed.

 private:
  std::string dir_;
  int64_t max_bytes_;
  bool usable_ = false;
};

/// Advisory lock file of one key; released on destruction or process death. Waits at most 30 s, then goes on without it.
class DiskCache::Lock {
 public:
  Lock(const DiskCache& cache, const std::string& key);
  ~Lock();
  bool held() const { return file_ >= 0; }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace heddle::runtime
