#include "src/cli/facts_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/error.h"
#include "src/cli/mask_options.h"
#include "src/cli/values.h"
#include "src/engine/compiler.h"

namespace heddle::cli {
namespace {

struct Settings {
  MaskOptions mask;
  std::vector<std::string> tiles;
  bool checksum = false, json = false;
};

void declare(CLI::App& command, Settings& settings) {
  declare_mask(command, settings.mask);
  command.add_option("--tile", settings.tiles, "ROWSxKEYS of tiles to count; repeatable; default 64x64")
      ->allow_extra_args(false);
  command.add_flag("--checksum", settings.checksum, "also FNV-1a over all bits of the mask (up to 65536 queries and keys)");
  command.add_flag("--json", settings.json, "print one JSON object");
}

void check_checksum(const engine::FactsRequest& request) {
  if (!request.checksum || std::max(request.sq, request.sk) <= engine::kMaxVisitedRows) return;
  throw UserError(fmt::format("--checksum at {} x {}: at most {} queries and keys", request.sq, request.sk, engine::kMaxVisitedRows),
                  "leave --checksum out, or use smaller lengths");
}

engine::FactsRequest request_of(const Settings& settings) {
  engine::FactsRequest request = facts_request(settings.mask);
  for (const std::string& tile : settings.tiles) request.tiles.push_back(parse_tile(tile));
  if (request.tiles.empty()) request.tiles = {{64, 64}};
  request.checksum = settings.checksum;
  check_checksum(request);
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
