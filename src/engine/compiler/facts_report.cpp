#include "src/engine/compiler/facts_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "src/engine/compiler/bounded_counts.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostSteps = int64_t{1} << 33;  ///< Some seconds on two threads.
constexpr BoundedCounts::BindLimits kBind = {int64_t{1} << 33, int64_t{1} << 25};

analysis::CountRequest count_request(const FactsRequest& request) {
  analysis::CountRequest made;
  made.tiles.clear();
  for (const auto& [rows, keys] : request.tiles) made.tiles.push_back({rows, keys});
  const bool small = request.sq <= kMaxVisitedRows && request.sk <= kMaxVisitedRows;
  made.pieces = small && request.pieces;
  made.columns = small && request.columns;
  made.checksum = small && request.checksum;
  made.threads = request.threads;
  return made;
}

std::string tile_name(analysis::TileShape shape) { return fmt::format("{}x{}", shape.rows, shape.cols); }

template <typename Value>
void add_known(Json& json, const char* name, const std::optional<Value>& value) {
  if (value) json[name] = *value;
}

Json tiles_json(const analysis::MaskCounts& counts) {
  Json json = Json::object();
  for (const auto& [shape, tiles] : counts.tiles) {
    json[tile_name(shape)] = {{"empty", tiles.empty}, {"full", tiles.full}, {"partial", tiles.partial}};
  }
  return json;
}

/// How well the mask fills its tiles: the share of tiles that are visited, the pairs in them, and how many of those are allowed.
Json tile_pairs_json(const analysis::MaskCounts& counts) {
  Json json = Json::object();
  for (const auto& [shape, tiles] : counts.tiles) {
    json[tile_name(shape)] = {{"density", tiles.density()},
                              {"full_pairs", tiles.full_pairs},
                              {"partial_pairs", tiles.partial_pairs},
                              {"allowed_in_partial", counts.nnz - tiles.full_pairs}};
  }
  return json;
}

Json sample_rows_json(const analysis::MaskCounts& counts) {
  Json json = Json::array();
  for (const analysis::SampleRow& row : counts.sample_rows) {
    json.push_back({{"row", row.row}, {"first", row.first}, {"last", row.last}, {"count", row.count}});
  }
  return json;
}

Json texts(const std::vector<ir::Expr>& exprs) {
  Json json = Json::array();
  for (const ir::Expr& expr : exprs) json.push_back(ir::print(expr));
  return json;
}

/// Null where hulls can only be enumerated.
Json hulls_json(const std::optional<analysis::LineHulls>& hulls) {
  if (!hulls) return nullptr;
  Json pieces = Json::array();
  for (const analysis::HullPiece& piece : hulls->pieces) {
    pieces.push_back({{"guards", texts(piece.guards)}, {"first", ir::print(piece.first)}, {"last", ir::print(piece.last)}});
  }
  return {{"proof", to_string(hulls->proof)}, {"pieces", pieces}, {"empty", ir::print(hulls->empty)}};
}

Json components_json(const analysis::MaskFacts& facts) {
  Json json = Json::array();
  for (const analysis::AffineComponent& component : facts.components()) {
    json.push_back({{"rows", texts(component.rows)},
                    {"offset", ir::print(component.offset)},
                    {"count", ir::print(component.count)},
                    {"stride", component.stride}});
  }
  return json;
}

void add_counts(Json& json, const analysis::MaskCounts& counts, bool runs) {
  json["nnz"] = counts.nnz;
  json["density"] = counts.density({json["sq"], json["sk"]});
  json["empty_rows"] = counts.empty_rows;
  add_known(json, "empty_cols", counts.empty_cols);
  json["row_nnz_max"] = counts.row_nnz_max;
  add_known(json, "row_runs_max", counts.row_runs_max);
  add_known(json, "row_runs_total", counts.row_runs_total);
  add_known(json, "affine_rows", counts.affine_rows);
  if (runs) json["contig_runs_max"] = counts.contig_runs_max, json["contig_runs_total"] = counts.contig_runs_total;
  json["tiles"] = tiles_json(counts);
  json["tile_pairs"] = tile_pairs_json(counts);
  if (counts.fnv1a64) json["fnv1a64"] = fmt::format("{:016x}", *counts.fnv1a64);
  json["sample_rows"] = sample_rows_json(counts);
}

std::string known_line(const char* name, const std::optional<int64_t>& value) {
  return value ? fmt::format("  {}: {}\n", name, *value) : "";
}

/// How well the mask fills its tiles.
std::string visited_text(const analysis::TileCounts& tiles, int64_t nnz) {
  std::string text = fmt::format("    visited: {:.4g}% of the tiles, {} pairs", 100 * tiles.density(), tiles.visited_pairs());
  if (nnz > 0) text += fmt::format(", {:.4g}% of them allowed", 100 * static_cast<double>(nnz) / static_cast<double>(tiles.visited_pairs()));
  return text + "\n";
}

std::string counts_text(const FactsRequest& request, const analysis::MaskCounts& counts, bool runs) {
  std::string text = fmt::format("counts at {} x {} ({}):\n  allowed pairs: {}", request.sq, request.sk,
                                 to_string(counts.proof), counts.nnz);
  if (request.sq > 0 && request.sk > 0) text += fmt::format(" ({:.4g}% of all)", 100 * counts.density({request.sq, request.sk}));
  text += fmt::format("\n  empty rows: {}\n", counts.empty_rows) + known_line("empty columns", counts.empty_cols);
  text += fmt::format("  keys a row, at most: {}\n", counts.row_nnz_max);
  text += runs ? fmt::format("  runs: {}, at most {} a row\n", counts.contig_runs_total, counts.contig_runs_max) : "  runs: too many to count\n";
  text += known_line("affine rows", counts.affine_rows) + known_line("affine pieces", counts.row_runs_total);
  for (const auto& [shape, tiles] : counts.tiles) {
    text += fmt::format("  tiles {}: {} full, {} partial, {} empty\n", tile_name(shape), tiles.full, tiles.partial, tiles.empty);
    text += visited_text(tiles, counts.nnz);
  }
  if (counts.fnv1a64) text += fmt::format("  checksum: {:016x}\n", *counts.fnv1a64);
  if (!counts.affine_rows) text += fmt::format("  empty columns and affine pieces: counted up to {} rows and keys\n", kMaxVisitedRows);
  return text;
}

/// What was found of a mask that takes too long to count.
struct Estimate {
  analysis::PairSample pairs;
  std::map<analysis::TileShape, analysis::TileSample> tiles;
};

Json share_json(const analysis::Share& share) { return {{"value", share.value}, {"error", share.error}}; }

void add_estimate(Json& json, const Estimate& found) {
  Json tiles = Json::object();
  for (const auto& [shape, one] : found.tiles) {
    tiles[tile_name(shape)] = {{"sampled", one.tiles}, {"of", one.of}, {"full", share_json(one.full)}, {"partial", share_json(one.partial)},
                               {"empty", share_json(one.empty)}};
  }
  json["sample"] = {{"pairs", found.pairs.points}, {"density", share_json(found.pairs.allowed)}, {"tiles", tiles}};
}

/// "12.5% +- 0.3%"
std::string percent(const analysis::Share& share) { return fmt::format("{:.3g}% +- {:.2g}%", 100 * share.value, 100 * share.error); }

std::string estimate_text(const FactsRequest& request, const Estimate& found) {
  std::string text = fmt::format("estimated at {} x {}, for an exact count takes too long (+-: 95% confidence):\n", request.sq, request.sk);
  text += fmt::format("  allowed pairs: {} of all, by the formula at {} pairs\n", percent(found.pairs.allowed), found.pairs.points);
  for (const auto& [shape, one] : found.tiles) {
    text += fmt::format("  tiles {}: {} full, {} partial, {} empty, by the formula in {} of {} tiles\n", tile_name(shape), percent(one.full),
                        percent(one.partial), percent(one.empty), one.tiles, one.of);
  }
  return text;
}

Estimate estimate(const BoundedCounts& bounded, const std::vector<analysis::TileShape>& shapes) {
  Estimate found{bounded.sample_pairs(), {}};
  for (const analysis::TileShape& shape : shapes) found.tiles[shape] = bounded.sample_tiles(shape);
  return found;
}

/// Counts, or an estimate.
struct Found {
  std::optional<analysis::MaskCounts> counts;
  bool runs = true;  ///< Counted too.
  Estimate estimate{};
};

Found find(const FactsRequest& request, BoundedCounts& bounded) {
  analysis::CountRequest wanted = count_request(request);
  if (auto counts = bounded.count(wanted, kMostSteps / 8)) return {std::move(counts)};
  wanted.runs = false;
  if (auto counts = bounded.count(wanted, kMostSteps)) return {std::move(counts), false};
  return {std::nullopt, false, estimate(bounded, wanted.tiles)};
}

}  // namespace

FactsReport facts_report(const FactsRequest& request) {
  const support::Timer timer;
  BoundedCounts bounded(request, kBind);
  const analysis::MaskFacts& facts = bounded.facts();
  const Found found = find(request, bounded);
  const double milliseconds = timer.milliseconds();
  Json json = {{"mask", ir::print(request.mask)}, {"sq", request.sq}, {"sk", request.sk}, {"proof", to_string(facts.proof())},
               {"milliseconds", milliseconds}, {"exact", found.counts.has_value()}};
  found.counts ? add_counts(json, *found.counts, found.runs) : add_estimate(json, found.estimate);
  json["components"] = components_json(facts);
  json["components_complete"] = facts.proof() != analysis::Proof::Enumerated && facts.components().size() == facts.rows().pieces.size();
  json["row_hulls"] = hulls_json(facts.hulls());
  json["column_hulls"] = hulls_json(facts.hulls(true));
  json["mentions_batch"] = facts.mentions_batch();
  json["mentions_head"] = facts.mentions_head();
  const analysis::TileShape shape = request.tiles.empty() ? analysis::TileShape{64, 64} : analysis::TileShape{request.tiles[0].first, request.tiles[0].second};
  const std::string text = print(facts, shape) + (found.counts ? counts_text(request, *found.counts, found.runs) : estimate_text(request, found.estimate));
  FactsReport report{text + fmt::format("{:.2f} ms\n", milliseconds), json.dump(2), std::nullopt};
  if (found.counts) report.nnz = found.counts->nnz;
  return report;
}

}  // namespace heddle::engine
