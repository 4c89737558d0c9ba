#include "src/cli/repl/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "heddle/error.h"
#include "runtime/thread_pool.h"
#include "src/cli/values.h"
#include "src/ir/attention_problem.h"
#include "src/support/text.h"

namespace heddle::cli::repl {
namespace {

using support::quote;

struct Setting {
  const char* name;
  int64_t Settings::*value;
  int64_t low, high;
  const char* what;
};

constexpr int64_t kMaxCount = 65536;
constexpr std::array<Setting, 11> kSettings = {{
    {"sq", &Settings::sq, 0, ir::kMaxPositions, "queries"},
    {"sk", &Settings::sk, 0, ir::kMaxPositions, "keys; 0: as many as queries"},
    {"batch", &Settings::batch, 1, kMaxCount, "batch size"},
    {"heads", &Settings::heads, 1, kMaxCount, "query heads"},
    {"kv_heads", &Settings::kv_heads, 0, kMaxCount, "key and value heads; 0: as many as query heads"},
    {"head_dim", &Settings::head_dim, 1, 256, "elements of a query and key row"},
    {"value_dim", &Settings::value_dim, 0, 256, "elements of a value row; 0: head_dim"},
    {"b", &Settings::b, 0, kMaxCount, "the batch that facts look at, where a mask depends on it"},
    {"h", &Settings::h, 0, kMaxCount, "the head that facts look at, where a mask depends on it"},
    {"repeat", &Settings::repeat, 1, 1000, "rounds of run and bench; the fastest one counts"},
    {"threads", &Settings::threads, 0, 1024, "threads; 0: one a core"},
}};
constexpr const char* kTile = "tile";

int64_t parse(const Setting& setting, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc() && end == text.data() + text.size() && value >= setting.low && value <= setting.high;
  if (good) return value;
  throw UserError(
      fmt::format("set {} {}: expected an integer from {} to {}", setting.name, quote(text), setting.low, setting.high));
}

[[noreturn]] void unknown(std::string_view name) {
  const std::string near = support::nearest(name, setting_names());
  throw UserError(fmt::format("unknown setting {}", quote(name)),
                  near.empty() ? "settings: " + support::list(setting_names()) : fmt::format("did you mean {}?", near));
}

std::string line(std::string_view name, const std::string& value, std::string_view what) {
  return fmt::format("  {:10} {:10} {}\n", name, value, what);
}

}  // namespace

int Settings::cores() const {
  return runtime::thread_count(static_cast<int>(threads));
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const Setting& setting : kSettings) names.emplace_back(setting.name);
  names.emplace_back(kTile);
  return names;
}

void change(Settings& settings, std::string_view name, std::string_view value) {
  if (name == kTile) {
    std::tie(settings.tile_rows, settings.tile_keys) = parse_tile(std::string(value));
    return;
  }
  const auto found = std::find_if(kSettings.begin(), kSettings.end(), [&](const Setting& one) { return one.name == name; });
  if (found == kSettings.end()) unknown(name);
  settings.*(found->value) = parse(*found, value);
}

std::string list(const Settings& settings) {
  std::string text;
  for (const Setting& setting : kSettings) {
    text += line(setting.name, fmt::format("{}", settings.*(setting.value)), setting.what);
  }
  return text + line(kTile, fmt::format("{}x{}", settings.tile_rows, settings.tile_keys), "rows x keys of the tiles that facts count");
}

}  // namespace heddle::cli::repl
