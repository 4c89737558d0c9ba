#include "src/engine/compiler/matrix_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/analysis/matrix_facts.h"

namespace heddle::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShownComponents = 12;  ///< In the text.

/// slope * x + base for people.
std::string line(const std::string& x, int64_t slope, int64_t base) {
  if (slope == 0) return std::to_string(base);
  const std::string scaled = slope == 1 ? x : fmt::format("{} * {}", slope, x);
  if (base == 0) return scaled;
  return fmt::format("{} {} {}", scaled, base > 0 ? '+' : '-', base > 0 ? base : -base);
}

std::string component_line(const analysis::MatrixComponent& c) {
  std::string text = fmt::format("  rows {} to {}: from key {}, {} keys", c.q0, c.q0 + c.height - 1, line("r", c.first_slope, c.first),
                                 line("r", c.count_slope, c.count));
  if (c.stride > 1) text += fmt::format(" {} apart", c.stride);
  if (c.repeats > 1) text += fmt::format("; {} times, {} rows and {} keys further each time", c.repeats, c.period, c.shift);
  return text + "\n";
}

std::string structure_text(const analysis::MatrixFacts& facts) {
  if (facts.irregular) return "irregular: no short list of affine components; only its tiles help\n";
  std::string text = fmt::format("{} affine components (r counts the rows of one):\n", facts.components.size());
  for (size_t i = 0; i < std::min(kShownComponents, facts.components.size()); ++i) text += component_line(facts.components[i]);
  if (facts.components.size() > kShownComponents) text += fmt::format("  and {} more\n", facts.components.size() - kShownComponents);
  return text;
}

std::string text_of(const analysis::MatrixFacts& facts) {
  std::string text = fmt::format("matrix {} x {}\n", facts.lengths.sq, facts.lengths.sk);
  text += facts.formula ? fmt::format("formula: {}\n", ir::print(facts.formula)) : "formula: none found\n";
  text += structure_text(facts);
  if (facts.period) text += fmt::format("rows repeat after {} rows, {} keys further\n", facts.period->rows, facts.period->keys);
  if (facts.lattice.stride > 1) text += fmt::format("keys of one row differ by multiples of {}\n", facts.lattice.stride);
  text += fmt::format("allowed pairs: {}\nempty rows: {}\nkeys a row, at most: {}\naffine rows: {}\naffine pieces: {}\n", facts.nnz, facts.empty_rows,
                      facts.row_nnz_max, facts.affine_rows, facts.row_runs_total);
  for (const auto& [shape, tiles] : facts.tiles) {
    text += fmt::format("tiles {}x{}: {} full, {} partial, {} empty\n", shape.rows, shape.cols, tiles.full, tiles.partial, tiles.empty);
  }
  return text + fmt::format("{:.2f} ms\n", facts.milliseconds);
}

Json components_json(const analysis::MatrixFacts& facts) {
  Json json = Json::array();
  for (const analysis::MatrixComponent& c : facts.components) {
    json.push_back({{"q0", c.q0}, {"height", c.height}, {"first", c.first}, {"first_slope", c.first_slope}, {"count", c.count},
                    {"count_slope", c.count_slope}, {"stride", c.stride}, {"repeats", c.repeats}, {"period", c.period}, {"shift", c.shift}});
  }
  return json;
}

Json json_of(const analysis::MatrixFacts& facts) {
  Json json = {{"sq", facts.lengths.sq}, {"sk", facts.lengths.sk}, {"nnz", facts.nnz}, {"empty_rows", facts.empty_rows},
               {"row_nnz_max", facts.row_nnz_max}, {"row_runs_max", facts.row_runs_max}, {"row_runs_total", facts.row_runs_total},
               {"affine_rows", facts.affine_rows}};
  json["tiles"] = Json::object();
  for (const auto& [shape, tiles] : facts.tiles) {
    json["tiles"][fmt::format("{}x{}", shape.rows, shape.cols)] = {{"empty", tiles.empty}, {"full", tiles.full}, {"partial", tiles.partial}};
  }
  json["irregular"] = facts.irregular;
  json["components"] = components_json(facts);
  json["lattice"] = facts.lattice.stride;
  json["period"] = facts.period ? Json{{"rows", facts.period->rows}, {"keys", facts.period->keys}} : Json(nullptr);
  json["formula"] = facts.formula ? Json(ir::print(facts.formula)) : Json(nullptr);
  json["milliseconds"] = facts.milliseconds;
  return json;
}

MatrixFindings findings_of(const analysis::MatrixFacts& facts, std::pair<int64_t, int64_t> tile) {
  MatrixFindings found;
  found.sq = facts.lengths.sq, found.sk = facts.lengths.sk, found.pairs = facts.nnz, found.empty_rows = facts.empty_rows;
  found.irregular = facts.irregular, found.components = facts.components, found.lattice = facts.lattice.stride;
  const analysis::TileCounts& tiles = facts.tiles.at({tile.first, tile.second});
  found.tile_rows = tile.first, found.tile_keys = tile.second;
  found.full_tiles = tiles.full, found.partial_tiles = tiles.partial, found.empty_tiles = tiles.empty;
  if (facts.formula) found.formula = ir::print(facts.formula);
  found.milliseconds = facts.milliseconds;
  return found;
}

}  // namespace

MatrixReport matrix_report(const MatrixRequest& request) {
  analysis::MatrixOptions options;
  options.threads = request.threads;
  options.tiles.clear();
  for (const auto& [rows, keys] : request.tiles) options.tiles.push_back({rows, keys});
  const analysis::MatrixFacts facts =
      analysis::matrix_facts({request.data, request.sq, request.sk, request.row_stride, request.key_stride}, options);
  return {text_of(facts), json_of(facts).dump(2), findings_of(facts, request.tiles.at(0)), facts.formula};
}

}  // namespace heddle::engine
