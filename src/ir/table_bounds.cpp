#include "src/ir/table_bounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "heddle/error.h"
#include "src/ir/guarded_reads.h"
#include "src/support/text.h"

namespace heddle::ir {
namespace {

constexpr int64_t kZero = 0;

void check_known(const std::map<std::string, TableDeclaration>& uses, const Tables& tables) {
  std::vector<std::string> names;
  for (const auto& [name, use] : uses) names.push_back(name);
  for (const auto& [name, table] : tables) {
    if (uses.contains(name)) continue;
    const std::string near = support::nearest(name, names);
    throw UserError(fmt::format("unknown table {}; the formulas read {}", support::quote(name), names.empty() ? "none" : support::list(names)),
                    near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
}

void check_form(const std::string& name, const TableDeclaration& use, const Tensor& table) {
  if (table.dtype != use.dtype) {
    throw UserError(fmt::format("the table '{}' is {}; the formula declares {}", name, to_string(table.dtype), to_string(use.dtype)));
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

bool is_position(const std::string& name) { return std::ranges::find(kPositions, name) != std::end(kPositions); }

bool reads_tables(const Expr& e) { return !tables(e).empty(); }

/// Every name of `e` is a position of the box or has one value there.
bool known(const Expr& e, const Box& box) {
  const auto one_value = [&](const std::string& name) {
    const auto range = box.find(name);
    return range != box.end() && (is_position(name) || range->second.low == range->second.high);
  };
  bool all = true;
  for_each_node(e, [&](const Expr& node) { all = all && ((node->op != Op::Var && node->op != Op::Param) || one_value(node->name)); });
  return all;
}

bool hold(const Place& place, const Environment& at) {
  return std::ranges::all_of(place.guards, [&](const Guard& guard) {
    return known(guard.condition, place.box) && !reads_tables(guard.condition) && evaluate_bool(guard.condition, at) == guard.holds;
  });
}

/// How formulas index one dimension of a table.
struct DimensionUse {
  std::set<std::string> plain;  ///< Positions that are an index by themselves, with no guard that keeps them to a part of their range.
  bool otherwise = false;
};

/// Checks the reads of formulas against the shapes of tables, none of whose lengths is 0.
class IndexRules {
 public:
  IndexRules(const Tables& tables, const Box& ranges) : tables_(tables), ranges_(ranges) {
    for (const auto& [name, table] : tables) uses_[name].resize(table.shape.size());
  }

  void see(const ExprNode& read, const Place& place) {
    for (size_t d = 0; d < read.operands.size(); ++d) {
      const Expr& index = read.operands[d];
      DimensionUse& use = uses_.at(read.name)[d];
      if (is_plain(index, place)) {
        use.plain.insert(index->name);
      } else {
        use.otherwise = true;
        check_index(read, d, place);
      }
    }
  }

  void check_shapes() const {
    for (const auto& [name, uses] : uses_) check_shape(name, uses);
  }

 private:
  int64_t size_of(const std::string& position) const { return ranges_.at(position).high + 1; }

  bool is_plain(const Expr& index, const Place& place) const {
    if (index->op != Op::Var || !is_position(index->name) || !ranges_.contains(index->name)) return false;
    return place.alone.at(index->name) == ranges_.at(index->name);
  }

  void check_shape(const std::string& name, const std::vector<DimensionUse>& uses) const {
    const std::vector<int64_t>& shape = tables_.at(name).shape;
    std::vector<std::string> expected, reasons;
    for (size_t d = 0; d < uses.size(); ++d) {
      const auto& [plain, otherwise] = uses[d];
      int64_t size = 0;
      for (const std::string& position : plain) size = std::max(size, size_of(position));
      const bool least = otherwise || plain.size() > 1;
      const bool wrong = !plain.empty() && shape[d] != 1 && (least ? shape[d] < size : shape[d] != size);
      expected.push_back(wrong && least ? fmt::format("at least {}", size) : std::to_string(wrong ? size : shape[d]));
      if (wrong) reasons.push_back(fmt::format("dimension {} is indexed by {}", d, fmt::join(plain, " and ")));
    }
    if (reasons.empty()) return;
    throw UserError(fmt::format("the table '{}' has shape [{}]; expected [{}]", name, fmt::join(shape, ", "), fmt::join(expected, ", ")),
                    fmt::format("{}; an extent of 1 is broadcast", fmt::join(reasons, ", ")));
  }

  void check_index(const ExprNode& read, size_t d, const Place& place) const {
    const int64_t extent = tables_.at(read.name).shape[d];
    const Interval found = range(read.operands[d], place.box);
    if (extent == 1 || (found.low >= 0 && found.high < extent)) return;
    if (found.low >= extent || found.high < 0) refuse(read, d, found, "");
    if (known(read.operands[d], place.box) && !reads_tables(read.operands[d])) check_corners(read, d, place, found);
  }

  /// Refuses the index if it leaves the table at a corner of the box where all guards hold.
  void check_corners(const ExprNode& read, size_t d, const Place& place, Interval found) const {
    constexpr unsigned kCorners = 1u << std::size(kPositions);
    Environment at;
    for (const auto& [name, values] : place.box) at.ints[name] = values.low;
    for (unsigned corner = 0; corner < kCorners; ++corner) {
      for (size_t i = 0; i < std::size(kPositions); ++i) {
        const auto range = place.box.find(kPositions[i]);
        if (range != place.box.end()) at.ints[kPositions[i]] = (corner >> i & 1) != 0 ? range->second.high : range->second.low;
      }
      const int64_t index = evaluate_int(read.operands[d], at);
      const bool inside = index >= 0 && index < tables_.at(read.name).shape[d];
      if (!inside && hold(place, at)) refuse(read, d, found, witness(read.operands[d], at, index));
    }
  }

  static std::string witness(const Expr& index, const Environment& at, int64_t value) {
    std::vector<std::string> parts;
    for (const char* name : kPositions) {
      if (mentions(index, name)) parts.push_back(fmt::format("{} = {}", name, at.ints.at(name)));
    }
    return fmt::format("it is {} at {}; ", value, fmt::join(parts, ", "));
  }

  [[noreturn]] void refuse(const ExprNode& read, size_t d, Interval found, const std::string& where) const {
    const std::vector<int64_t>& shape = tables_.at(read.name).shape;
    const std::string values = found.low == found.high ? fmt::format("is {}", found.low) : fmt::format("goes from {} to {}", found.low, found.high);
    const std::string expected = shape[d] == 0 ? "there are no elements" : fmt::format("expected 0 to {}", shape[d] - 1);
    throw UserError(fmt::format("the index {} of dimension {} of the table '{}' {}; {} for shape [{}]", print(read.operands[d]), d, read.name,
                                values, expected, fmt::join(shape, ", ")),
                    where + "give a larger table, or guard the read by a condition in the same && chain");
  }

  const Tables& tables_;
  const Box& ranges_;
  std::map<std::string, std::vector<DimensionUse>> uses_;
};

bool any_empty(const Box& ranges) {
  return std::ranges::any_of(ranges, [](const auto& entry) { return entry.second.low > entry.second.high; });
}

}  // namespace

void check_tables(const Expr& mask, const Expr& score, const Tables& tables, const std::map<std::string, Interval>& ranges) {
  std::map<std::string, TableDeclaration> uses = ir::tables(mask);
  uses.merge(ir::tables(score));
  check_known(uses, tables);
  for (const auto& [name, use] : uses) {
    const auto found = tables.find(name);
    if (found == tables.end()) throw UserError(fmt::format("the table '{}' is missing", name), "give every table that the formulas read");
    check_form(name, use, found->second);
  }
  if (any_empty(ranges)) return;
  IndexRules rules(tables, ranges);
  for_each_guarded_read(mask, score, ranges, [&](const ExprNode& read, const Place& place) { rules.see(read, place); });
  rules.check_shapes();
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
