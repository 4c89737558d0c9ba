#include "src/engine/compiler/facts_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "src/analysis/cells.h"
#include "src/analysis/counts.h"
#include "src/analysis/facts.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

using Json = nlohmann::ordered_json;

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

void add_counts(Json& json, const analysis::MaskCounts& counts) {
  json["nnz"] = counts.nnz;
  json["empty_rows"] = counts.empty_rows;
  add_known(json, "empty_cols", counts.empty_cols);
  json["row_nnz_max"] = counts.row_nnz_max;
  add_known(json, "row_runs_max", counts.row_runs_max);
  add_known(json, "row_runs_total", counts.row_runs_total);
  add_known(json, "affine_rows", counts.affine_rows);
  json["contig_runs_max"] = counts.contig_runs_max;
  json["contig_runs_total"] = counts.contig_runs_total;
  json["tiles"] = tiles_json(counts);
  if (counts.fnv1a64) json["fnv1a64"] = fmt::format("{:016x}", *counts.fnv1a64);
  json["sample_rows"] = sample_rows_json(counts);
}

std::string known_line(const char* name, const std::optional<int64_t>& value) {
  return value ? fmt::format("  {}: {}\n", name, *value) : "";
}

std::string counts_text(const FactsRequest& request, const analysis::MaskCounts& counts) {
  const double pairs = static_cast<double>(request.sq) * static_cast<double>(request.sk);
  std::string text = fmt::format("counts at {} x {} ({}):\n  allowed pairs: {}", request.sq, request.sk,
                                 to_string(counts.proof), counts.nnz);
  if (pairs > 0) text += fmt::format(" ({:.4g}% of all)", 100 * static_cast<double>(counts.nnz) / pairs);
  text += fmt::format("\n  empty rows: {}\n", counts.empty_rows) + known_line("empty columns", counts.empty_cols);
  text += fmt::format("  keys a row, at most: {}\n  runs: {}, at most {} a row\n", counts.row_nnz_max, counts.contig_runs_total,
                      counts.contig_runs_max);
  text += known_line("affine rows", counts.affine_rows) + known_line("affine pieces", counts.row_runs_total);
  for (const auto& [shape, tiles] : counts.tiles) {
    text += fmt::format("  tiles {}: {} full, {} partial, {} empty\n", tile_name(shape), tiles.full, tiles.partial, tiles.empty);
  }
  if (counts.fnv1a64) text += fmt::format("  checksum: {:016x}\n", *counts.fnv1a64);
  if (!counts.affine_rows) text += fmt::format("  empty columns and affine pieces: counted up to {} rows and keys\n", kMaxVisitedRows);
  return text;
}

}  // namespace

FactsReport facts_report(const FactsRequest& request) {
  const support::Timer timer;
  const analysis::MaskFacts facts(request.mask, {.lengths = analysis::Lengths{request.sq, request.sk}});
  analysis::check_countable(facts, {request.sq, request.sk});
  const analysis::CountRequest wanted = count_request(request);
  const std::map<std::string, int64_t> ints(request.ints.begin(), request.ints.end());
  const analysis::MaskCounts counts = analysis::count(facts, {request.sq, request.sk}, wanted, ints, request.tables);
  const double milliseconds = timer.milliseconds();
  Json json = {{"mask", ir::print(request.mask)}, {"sq", request.sq}, {"sk", request.sk}, {"proof", to_string(counts.proof)},
               {"milliseconds", milliseconds}};
  add_counts(json, counts);
  json["components"] = components_json(facts);
  json["components_complete"] = facts.proof() != analysis::Proof::Enumerated && facts.components().size() == facts.rows().pieces.size();
  json["row_hulls"] = hulls_json(facts.hulls());
  json["column_hulls"] = hulls_json(facts.hulls(true));
  json["mentions_batch"] = facts.mentions_batch();
  json["mentions_head"] = facts.mentions_head();
  const analysis::TileShape shape = wanted.tiles.empty() ? analysis::TileShape{64, 64} : wanted.tiles.front();
  const std::string text = print(facts, shape) + counts_text(request, counts) + fmt::format("{:.2f} ms\n", milliseconds);
  return {text, json.dump(2), counts.nnz};
}

}  // namespace heddle::engine
