#include "src/engine/verify_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <nlohmann/json.hpp>

#include "dsl/json_reader.h"
#include "dsl/parser.h"
#include "heddle/error.h"
#include "runtime/thread_pool.h"
#include "src/engine/case_tables.h"
#include "src/engine/compiler.h"
#include "src/ir/attention_problem.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

using dsl::JsonView;
using nlohmann::json;

constexpr size_t kMaxBytes = size_t{1} << 26;
constexpr int64_t kMaxTile = int64_t{1} << 20;

struct MaskCase {
  std::string name;
  FactsRequest request;
  json results;
  std::shared_ptr<const CaseTables> tables;  ///< The memory of the request's tables.
};

int64_t read_length(const JsonView& view) {
  const int64_t length = view.integer();
  if (length < 0 || length > ir::kMaxPositions) view.fail(fmt::format("expected 0 to {}", ir::kMaxPositions));
  return length;
}

std::pair<int64_t, int64_t> read_shape(const std::string& name, const JsonView& view) {
  int64_t rows = 0, keys = 0;
  const char* const end = name.data() + name.size();
  const auto first = std::from_chars(name.data(), end, rows);
  const bool cross = first.ec == std::errc() && first.ptr != end && *first.ptr == 'x';
  const auto second = cross ? std::from_chars(first.ptr + 1, end, keys) : first;
  const bool good = cross && second.ec == std::errc() && second.ptr == end;
  if (!good || std::min(rows, keys) < 1 || std::max(rows, keys) > kMaxTile) {
    view.fail(fmt::format("{} is no tile shape", support::quote(name)), "expected ROWSxKEYS, for example 64x64");
  }
  return {rows, keys};
}

/// Results as JSON of their own, checked: integers, the checksum's text, tile classes and sampled rows.
json read_results(const JsonView& view, FactsRequest& request) {
  view.expect_keys({"nnz", "empty_rows", "empty_cols", "row_nnz_max", "row_runs_max", "row_runs_total", "affine_rows",
                    "contig_runs_max", "contig_runs_total", "tiles", "fnv1a64", "sample_rows"});
  json results = json::object();
  const auto read_object = [](const JsonView& from, const std::vector<std::string>& keys) {
    from.expect_keys(keys);
    json object = json::object();
    for (const std::string& key : keys) object[key] = from.at(key).integer();
    return object;
  };
  for (const auto& [key, value] : view.members()) {
    json& result = results[key];
    if (key == "fnv1a64") {
      result = value.string();
    } else if (key == "tiles") {
      for (const auto& [name, classes] : value.members()) {
        request.tiles.push_back(read_shape(name, classes));
        result[name] = read_object(classes, {"empty", "full", "partial"});
      }
    } else if (key == "sample_rows") {
      result = json::array();
      for (const JsonView& row : value.elements()) result.push_back(read_object(row, {"row", "first", "last", "count"}));
    } else {
      result = value.integer();
    }
  }
  if (results.empty()) view.fail("there are no results to compare");
  return results;
}

MaskCase read_case(const JsonView& view) {
  view.expect_keys({"name", "family", "seq_q", "seq_k", "params", "formula", "tables", "lcg_tables", "results"});
  MaskCase made{view.at("name").string(), {}, {}, read_tables(view)};
  FactsRequest& request = made.request;
  request.sq = read_length(view.at("seq_q"));
  request.sk = read_length(view.at("seq_k"));
  request.threads = 1;
  made.results = read_results(view.at("results"), request);
  const auto wanted = [&](const char* field) { return made.results.contains(field); };
  request.pieces = wanted("row_runs_max") || wanted("row_runs_total") || wanted("affine_rows");
  request.columns = wanted("empty_cols");
  request.checksum = wanted("fnv1a64");
  const JsonView formula = view.at("formula");
  Parameters declared;
  for (const CaseTable& table : *made.tables) {
    declared[table.name] = TableOf{DType::Int64};
    request.tables[table.name] = table.view;
  }
  request.mask = ir::guard_divisors(dsl::parse_formula(formula.string(), {.parameters = declared, .origin = formula.origin()}));
  return made;
}

std::vector<MaskCase> read_cases(const std::string& text, const std::string& origin, const std::string& only) {
  const JsonView file(dsl::JsonDocument::parse(text, origin, {.bytes = kMaxBytes}));
  file.expect_keys({"version", "lcg", "cases", "huge"});
  if (file.at("version").integer() != 1) file.at("version").fail("expected version 1 of mask case files");
  std::vector<MaskCase> cases;
  size_t all = 0;
  for (const char* list : {"cases", "huge"}) {
    if (!file.has(list)) continue;
    for (const JsonView& view : file.at(list).elements()) {
      ++all;
      if (view.at("name").string().find(only) != std::string::npos) cases.push_back(read_case(view));
    }
  }
  if (all == 0) file.fail("there are no cases", "expected a list \"cases\", see test/cases/README.md");
  if (cases.empty()) throw UserError(fmt::format("{}: no case of {} has {} in its name", origin, all, support::quote(only)));
  return cases;
}

std::string plain(const json* value) {
  if (!value) return "nothing";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

void compare(const std::string& field, const json& expected, const json* found, std::vector<FieldDifference>& out) {
  const auto below = [&](const std::string& key) { return field.empty() ? key : field + "/" + key; };
  if (expected.is_object() && found && found->is_object()) {
    for (const auto& [key, value] : expected.items()) {
      const auto at = found->find(key);
      compare(below(key), value, at == found->end() ? nullptr : &*at, out);
    }
  } else if (expected.is_array() && found && found->is_array() && found->size() == expected.size()) {
    for (size_t i = 0; i < expected.size(); ++i) compare(below(std::to_string(i)), expected[i], &(*found)[i], out);
  } else if (!found || *found != expected) {
    out.push_back({field, plain(&expected), plain(found)});
  }
}

/// Keys of all rows by the printed components.
int64_t component_keys(const json& components, int64_t sq, int64_t sk) {
  const std::vector<std::string> names = {"q", "Sq", "Sk"};
  int64_t total = 0;
  for (const json& component : components) {
    std::vector<ir::CompiledExpr> guards;
    for (const json& guard : component["rows"]) guards.emplace_back(dsl::parse_formula(guard.get<std::string>(), {}), names);
    const dsl::ParseOptions integer{.type = ir::Type::Int, .parameters = {{"q", Dynamic{}}, {"Sq", Dynamic{}}, {"Sk", Dynamic{}}}};
    const ir::CompiledExpr count(dsl::parse_formula(component["count"].get<std::string>(), integer), names);
    for (int64_t values[] = {0, sq, sk}; values[0] < sq; ++values[0]) {
      const auto holds = [&](const ir::CompiledExpr& guard) { return guard.run_int(values) != 0; };
      if (std::all_of(guards.begin(), guards.end(), holds)) total += std::max<int64_t>(0, count.run_int(values));
    }
  }
  return total;
}

std::vector<FieldDifference> differences_of(const MaskCase& one) {
  std::vector<FieldDifference> found;
  try {
    const json report = json::parse(compiler().facts(one.request).json);
    compare("", one.results, &report, found);
    if (!report.at("components_complete")) return found;
    const json total = component_keys(report["components"], one.request.sq, one.request.sk);
    compare("nnz of the components", report["nnz"], &total, found);
  } catch (const InternalError& error) {
    const std::string message = error.what();
    found.push_back({"facts", "no error", message.substr(0, message.find('\n'))});
  } catch (const UserError& error) {  // A table that does not fit the formula.
    found.push_back({"facts", "no error", error.what()});
  }
  return found;
}

MaskCaseOutcome run(const MaskCase& one) {
  using Status = MaskCaseOutcome::Status;
  MaskCaseOutcome outcome;
  outcome.name = one.name;
  const support::Timer timer;
  outcome.differences = differences_of(one);
  outcome.milliseconds = timer.milliseconds();
  if (!outcome.differences.empty()) outcome.status = Status::Failed;
  return outcome;
}

}  // namespace

const char* to_string(MaskCaseOutcome::Status status) {
  switch (status) {
    case MaskCaseOutcome::Status::Passed: return "passed";
    case MaskCaseOutcome::Status::Failed: return "failed";
  }
  return "";
}

std::vector<MaskCaseOutcome> verify_masks(const std::string& text, const std::string& origin, const VerifyMasksOptions& options) {
  const std::vector<MaskCase> cases = read_cases(text, origin, options.only);
  std::vector<MaskCaseOutcome> outcomes(cases.size());
  runtime::ThreadPool pool(std::clamp(options.threads, 1, static_cast<int>(cases.size())));
  std::atomic<size_t> started = 0;
  pool.run([&](int) {
    for (size_t i = started++; i < cases.size(); i = started++) {
      const size_t at = cases.size() - 1 - i;  // The huge ones first, so that none is left for one thread at last.
      outcomes[at] = run(cases[at]);
    }
  });
  return outcomes;
}

}  // namespace heddle::engine
