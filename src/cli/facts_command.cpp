#include "src/cli/facts_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/error.h"
#include "runtime/thread_pool.h"
#include "src/cli/mask_options.h"
#include "src/cli/matrix_option.h"
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

std::vector<std::pair<int64_t, int64_t>> tiles_of(const Settings& settings) {
  std::vector<std::pair<int64_t, int64_t>> tiles;
  for (const std::string& tile : settings.tiles) tiles.push_back(parse_tile(tile));
  if (tiles.empty()) tiles = {{64, 64}};
  return tiles;
}

engine::FactsRequest request_of(const Settings& settings) {
  engine::FactsRequest request = facts_request(settings.mask);
  request.tiles = tiles_of(settings);
  request.checksum = settings.checksum;
  check_checksum(request);
  return request;
}

void show(const Settings& settings, const std::string& text, const std::string& json) {
  std::string shown = settings.json ? json : text;
  if (!shown.ends_with('\n')) shown += '\n';
  write(shown);
}

int run_matrix(const Settings& settings) {
  if (settings.checksum) throw UserError("--checksum is for masks given as formulas", "leave --checksum out");
  const LoadedMatrix matrix = load_matrix(settings.mask.matrix);
  const engine::MatrixReport report = engine::compiler().matrix_facts({.data = matrix.bytes->data(),
                                                                       .sq = matrix.view.shape[0],
                                                                       .sk = matrix.view.shape[1],
                                                                       .row_stride = matrix.view.strides[0],
                                                                       .tiles = tiles_of(settings),
                                                                       .threads = runtime::thread_count(settings.mask.threads)});
  show(settings, report.text, report.json);
  return kDone;
}

int run(const Settings& settings) {
  if (!settings.mask.matrix.empty()) return run_matrix(settings);
  const engine::FactsRequest request = request_of(settings);  // A wrong formula is found before the compiler is loaded.
  const engine::FactsReport report = engine::compiler().facts(request);
  show(settings, report.text, report.json);
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
