#include "src/engine/case_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/support/text.h"

namespace heddle::engine {
namespace {

using dsl::JsonView;

int64_t read_between(const JsonView& view, int64_t low, int64_t high) {
  const int64_t value = view.integer();
  if (value < low || value > high) view.fail(fmt::format("expected {} to {}, found {}", low, high, value));
  return value;
}

std::vector<int64_t> shape_of(const JsonView& list) {
  const std::vector<JsonView> rows = list.elements();
  if (rows.empty() || !rows[0].is_array()) return {static_cast<int64_t>(rows.size())};
  return {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].elements().size())};
}

void append(const JsonView& list, std::vector<int64_t>& out) {
  for (const JsonView& element : list.elements()) out.push_back(element.integer());
}

CaseTable listed(const std::string& name, const JsonView& list) {
  CaseTable table{name, {}, {}};
  const std::vector<int64_t> shape = shape_of(list);
  if (shape.size() == 1) {
    append(list, table.elements);
  } else {
    for (const JsonView& row : list.elements()) {
      const auto width = static_cast<int64_t>(row.elements().size());
      if (width != shape[1]) row.fail(fmt::format("a row of {} elements in a table whose first row has {}", width, shape[1]));
      append(row, table.elements);
    }
  }
  table.view = Tensor::dense(table.elements.data(), shape, DType::Int64);
  return table;
}

/// x = seed; for each element x = (1664525 x + 1013904223) mod 2^32, then 1 where (x >> 16) mod 1000 < per_mille, else 0.
CaseTable generated(const std::string& name, const JsonView& view) {
  view.expect_keys({"length", "seed", "per_mille"});
  CaseTable table{name, std::vector<int64_t>(read_between(view.at("length"), 0, kMaxCaseElements)), {}};
  auto x = static_cast<uint32_t>(read_between(view.at("seed"), 0, UINT32_MAX));
  const auto per_mille = static_cast<uint32_t>(read_between(view.at("per_mille"), 0, 1000));
  for (int64_t& element : table.elements) {
    x = 1664525u * x + 1013904223u;
    element = (x >> 16) % 1000 < per_mille;
  }
  table.view = Tensor::dense(table.elements.data(), {static_cast<int64_t>(table.elements.size())}, DType::Int64);
  return table;
}

}  // namespace

std::shared_ptr<const CaseTables> read_tables(const JsonView& view) {
  auto tables = std::make_shared<CaseTables>();
  const auto add = [&](const char* member, CaseTable (*make)(const std::string&, const JsonView&)) {
    if (!view.has(member)) return;
    for (const auto& [name, value] : view.at(member).members()) {
      if (std::ranges::find(*tables, name, &CaseTable::name) != tables->end()) value.fail("the table " + support::quote(name) + " is given twice");
      tables->push_back(make(name, value));
    }
  };
  add("tables", listed);
  add("lcg_tables", generated);
  return tables;
}

}  // namespace heddle::engine
