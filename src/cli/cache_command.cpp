#include "src/cli/cache_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heddle/engine.h"
#include "heddle/error.h"
#include "runtime/disk_cache.h"

namespace heddle::cli {
namespace {

using nlohmann::json;
using runtime::CacheEntry;
using runtime::DiskCache;

struct Settings {
  std::string dir;
  bool json = false;
};

void declare(CLI::App& command, Settings& settings) {
  command.add_option("--dir", settings.dir,
                     "folder of the cache; default $HEDDLE_CACHE_DIR, $XDG_CACHE_HOME/heddle, ~/.cache/heddle");
  command.add_flag("--json", settings.json, "print JSON");
}

DiskCache open(const Settings& settings) {
  const std::string dir = settings.dir.empty() ? runtime::default_cache_dir() : settings.dir;
  if (dir.empty())
    throw UserError("there is no cache folder: HEDDLE_CACHE_DIR, XDG_CACHE_HOME and HOME are all unset", "give --dir");
  if (std::filesystem::exists(dir) && !std::filesystem::is_directory(dir)) {
    throw UserError(fmt::format("the cache {} is a file", dir), "expected a folder; give another one with --dir");
  }
  DiskCache cache(dir, EngineOptions().cache_bytes);
  if (!cache.usable()) throw UserError(fmt::format("the cache {} cannot be used", dir), "give another folder with --dir");
  return cache;
}

void print(const Settings& settings, const json& object, const std::string& text) {
  write(settings.json ? object.dump(2) + '\n' : text);
}

std::string time_text(int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<time_t>(seconds)));
}

json to_json(const CacheEntry& entry) {
  return {{"key", entry.key},     {"path", entry.path},           {"summary", entry.summary},
          {"bytes", entry.bytes}, {"last_used", entry.last_used}, {"valid", entry.valid}};
}

int list(const Settings& settings) {
  json array = json::array();
  std::string text;
  for (const CacheEntry& entry : open(settings).list()) {
    array.push_back(to_json(entry));
    text += fmt::format("{}  {:>9} bytes  {}  {}\n", entry.key, entry.bytes, time_text(entry.last_used),
                        entry.valid ? entry.summary : "(damaged: will be compiled again)");
  }
  print(settings, array, text.empty() ? "the cache is empty\n" : text);
  return kDone;
}

int stats(const Settings& settings) {
  const DiskCache cache = open(settings);
  const std::vector<CacheEntry> entries = cache.list();
  int64_t bytes = 0;
  for (const CacheEntry& entry : entries) bytes += entry.bytes;
  const int64_t damaged = std::ranges::count(entries, false, &CacheEntry::valid);
  const int64_t limit = EngineOptions().cache_bytes;
  print(settings,
        {{"dir", cache.dir()}, {"entries", entries.size()}, {"bytes", bytes}, {"max_bytes", limit}, {"damaged", damaged}},
        fmt::format("folder   {}\nkernels  {}\nbytes    {} of {}\ndamaged  {}\n", cache.dir(), entries.size(), bytes, limit,
                    damaged));
  return kDone;
}

int verify(const Settings& settings) {
  const std::vector<CacheEntry> entries = open(settings).list();
  json damaged = json::array();
  std::string text;
  for (const CacheEntry& entry : entries) {
    if (entry.valid) continue;
    damaged.push_back(entry.path);
    text += fmt::format("damaged: {}\n", entry.path);
  }
  const size_t good = entries.size() - damaged.size();
  print(settings, {{"valid", good}, {"damaged", damaged}},
        text + fmt::format("{} valid, {} damaged{}\n", good, damaged.size(),
                           damaged.empty() ? "" : " (they count as missing and are compiled again when asked for)"));
  return damaged.empty() ? kDone : kCheckFailed;
}

int clear(const Settings& settings) {
  const int64_t removed = open(settings).clear();
  print(settings, {{"removed", removed}}, fmt::format("removed {} files\n", removed));
  return kDone;
}

}  // namespace

void add_cache_command(CLI::App& app, Action& action) {
  CLI::App* cache = app.add_subcommand("cache", "the kernel cache on disk: list, stats, verify, clear");
  cache->require_subcommand(1);
  cache->footer("Example:\n  heddle cache stats");
  add_command<Settings>(
      *cache, action, {"list", "one line a kernel: key, size, last use, what it computes", "heddle cache list"}, declare, list);
  add_command<Settings>(*cache, action,
                        {"stats", "folder, number of kernels, bytes used and allowed", "heddle cache stats --json"}, declare,
                        stats);
  add_command<Settings>(*cache, action, {"verify", "checks every file; status 1 when one is damaged", "heddle cache verify"},
                        declare, verify);
  add_command<Settings>(*cache, action, {"clear", "removes every kernel", "heddle cache clear"}, declare, clear);
}

}  // namespace heddle::cli
