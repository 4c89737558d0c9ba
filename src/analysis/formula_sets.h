// Normal forms as isl sets over { [q, k] }, on the plane or inside given bounds.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>
#include "src/analysis/presburger.h"
#include "src/ir/expr.h"

namespace heddle::analysis {

/// The symbols of an analysis besides q and k. isl knows them as p0, p1, ..., so no name of a user can upset its parser.
class Parameters {
 public:
  /// `key` is the name formulas use, `expr` what facts print for it, `low` its least value if known.
  void add(std::string key, ir::Expr expr, std::optional<int64_t> low = std::nullopt);
  /// Every Var and Param leaf of `formula` except q and k, sorted by name: sizes are >= 1, other variables >= 0. Names in `aliases`
  /// stand for the given expressions.
  static Parameters of(const ir::Expr& formula, const std::map<std::string, ir::Expr>& aliases = {});

  size_t size() const { return entries_.size(); }
  std::optional<size_t> find(const std::string& key) const;
  const ir::Expr& expr(size_t index) const { return entries_[index].expr; }
  std::string name(const std::string& key) const;  ///< "p3"; the key must exist.
  std::string list() const;    ///< "[p0, p1]"
  std::string bounds() const;  ///< "p0 >= 1 and p1 >= 0", never empty.

 private:
  struct Entry {
    std::string key;
    ir::Expr expr;
    std::optional<int64_t> low;
  };
  std::vector<Entry> entries_;
};

/// Exclusive ends of the two axes; none is the unbounded plane.
struct PlaneBounds {
  std::optional<int64_t> q, k;
};

/// A mask on q >= 0, k >= 0: what is allowed and what is not, built separately (never by complement).
struct Plane {
  Parameters parameters;
  isl::set context;               ///< Parameter set.
  isl::set domain, allowed, masked;  ///< { [q, k] }.
};

Plane build_plane(const IslContext& context, const ir::Expr& mask, const Parameters& parameters, const PlaneBounds& bounds);

}  // namespace heddle::analysis
