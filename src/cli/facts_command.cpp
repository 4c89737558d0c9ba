#include "src/cli/facts_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "heddle/error.h"
#include "src/cli/values.h"
#include "src/engine/compiler.h"
#include "src/ir/attention_problem.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

struct Settings {
  std::string mask, mask_file;
  std::vector<std::string> params, at, tiles;
  int64_t sq = 0;
  std::optional<int64_t> sk;
  bool checksum = false, json = false;
  int threads = 0;
};

void declare(CLI::App& command, Settings& settings) {
  command.add_option("--mask", settings.mask, "boolean formula over q, k, h, b and sizes: true means the pair takes part");
  command.add_option("--mask-file", settings.mask_file, "file with the mask formula, - for standard input");
  command.add_option("--sq", settings.sq, "number of queries")->required();
  command.add_option("--sk", settings.sk, "number of keys; default the number of queries");
  command.add_option("--param", settings.params, "NAME=VALUE: an integer constant of the formula; repeatable")
      ->allow_extra_args(false);
  command.add_option("--at", settings.at, "NAME=INTEGER: value of h, b, a size or a dynamic parameter to count at; repeatable")
      ->allow_extra_args(false);
  command.add_option("--tile", settings.tiles, "ROWSxKEYS of tiles to count; repeatable; default 64x64")
      ->allow_extra_args(false);
  command.add_flag("--checksum", settings.checksum, "also FNV-1a over all bits of the mask (up to 65536 queries and keys)");
  command.add_option("--threads", settings.threads, "threads to count with; default all cores")->check(CLI::Range(0, 1024));
  command.add_flag("--json", settings.json, "print one JSON object");
}

int64_t checked_length(const char* option, int64_t length) {
  if (length >= 0 && length <= ir::kMaxPositions) return length;
  throw UserError(fmt::format("{} {}: expected 0 to {}", option, length, ir::kMaxPositions));
}

/// What `--at` gives, where the mask can depend on it.
std::vector<std::pair<std::string, int64_t>> values_at(const Settings& settings, const ir::Expr& mask) {
  std::vector<std::string> known = {"b", "h", "B", "H", "Hkv"};
  for (const auto& [name, type] : ir::parameters(mask)) known.push_back(name);
  std::vector<std::pair<std::string, int64_t>> values;
  for (const auto& [name, value] : parse_integers("--at", settings.at)) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UserError(fmt::format("--at {}: no value of the mask that can be given", support::quote(name)),
                      "expected one of " + support::list(known) + "; --sq and --sk give the lengths");
    }
    values.emplace_back(name, value);
  }
  return values;
}

void check_checksum(const engine::FactsRequest& request) {
  if (!request.checksum || std::max(request.sq, request.sk) <= engine::kMaxVisitedRows) return;
  throw UserError(fmt::format("--checksum at {} x {}: at most {} queries and keys", request.sq, request.sk, engine::kMaxVisitedRows),
                  "leave --checksum out, or use smaller lengths");
}

engine::FactsRequest request_of(const Settings& settings) {
  engine::FactsRequest request;
  request.mask = ir::guard_divisors(parse_mask(settings.mask, settings.mask_file, settings.params).node());
  request.sq = checked_length("--sq", settings.sq);
  request.sk = checked_length("--sk", settings.sk.value_or(settings.sq));
  for (const std::string& tile : settings.tiles) request.tiles.push_back(parse_tile(tile));
  if (request.tiles.empty()) request.tiles = {{64, 64}};
  request.ints = values_at(settings, request.mask);
  request.checksum = settings.checksum;
  check_checksum(request);
  request.threads =
      settings.threads > 0 ? settings.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return request;
}

int run(const Settings& settings) {
  const engine::FactsRequest request = request_of(settings);  // A wrong formula is found before the compiler is loaded.
  const engine::FactsReport report = engine::compiler().facts(request);
  std::string text = settings.json ? report.json : report.text;
  if (!text.ends_with('\n')) text += '\n';
  write(text);
  return kDone;
}

}  // namespace

void add_facts_command(CLI::App& app, Action& action) {
  add_command<Settings>(app, action,
                        {"facts", "exact facts of a mask: affine components, runs, tiles, counts",
                         "heddle facts --mask 'k <= q && q - k < w' --param w=256 --sq 4096 --sk 4096 --tile 64x64"},
                        declare, run);
}

}  // namespace heddle::cli
