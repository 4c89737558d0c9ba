#include "src/ir/table_bounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::ir {
namespace {

constexpr int64_t kZero = 0;

void check_known(const std::map<std::string, TableUse>& uses, const Tables& tables) {
  std::vector<std::string> names;
  for (const auto& [name, use] : uses) names.push_back(name);
  for (const auto& [name, table] : tables) {
    if (uses.contains(name)) continue;
    const std::string near = support::nearest(name, names);
    throw UserError(fmt::format("unknown table {}; the formulas read {}", support::quote(name), names.empty() ? "none" : support::list(names)),
                    near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
}

void check_form(const std::string& name, const TableUse& use, const Tensor& table) {
  if (table.dtype != use.element) {
    throw UserError(fmt::format("the table '{}' is {}; the formula declares {}", name, to_string(table.dtype), to_string(use.element)));
  }
  if (table.rank() != use.rank) {
    throw UserError(fmt::format("the table '{}' has shape [{}]; the formula reads it with {} ind{}", name, fmt::join(table.shape, ", "), use.rank,
                                use.rank == 1 ? "ex" : "ices"));
  }
  if (table.strides.size() != table.shape.size()) {
    throw UserError(fmt::format("the table '{}' has {} strides for {} dimensions", name, table.strides.size(), table.rank()));
  }
  if (std::ranges::any_of(table.shape, [](int64_t extent) { return extent < 0; })) {
    throw UserError(fmt::format("the table '{}' has shape [{}] with a negative dimension", name, fmt::join(table.shape, ", ")));
  }
  const bool empty = std::ranges::find(table.shape, 0) != table.shape.end();
  if (!table.data && !empty) throw UserError(fmt::format("the table '{}' is a null pointer", name));
}

}  // namespace

void check_tables(const Expr& mask, const Expr& score, const Tables& tables, const std::map<std::string, Interval>& ranges) {
  std::map<std::string, TableUse> uses = ir::tables(mask);
  uses.merge(ir::tables(score));
  check_known(uses, tables);
  for (const auto& [name, use] : uses) {
    const auto found = tables.find(name);
    if (found == tables.end()) throw UserError(fmt::format("the table '{}' is missing", name), "give every table that the formulas read");
    check_form(name, use, found->second);
  }
}

TableArg table_argument(const Tensor& table) {
  TableArg made;
  made.data = table.data;
  for (size_t d = 0; d < table.shape.size(); ++d) {
    if (table.shape[d] == 0) return TableArg{&kZero, {1, 1, 1, 1}, {}};
    made.extent[d] = table.shape[d];
    made.stride[d] = table.shape[d] == 1 ? 0 : table.strides[d];
  }
  return made;
}

}  // namespace heddle::ir
