// Short conditions for sets of integers on a line: rows, columns, diagonals or blocks of a matrix.
#pragma once
#include <string>
#include <vector>
#include "src/ir/expr.h"

namespace heddle::analysis {

/// A set between two bounds: values low + i with must[i] belong to it, those with may[i] can. must implies may.
struct LineSet {
  int64_t low = 0;
  std::vector<char> must, may;
  int64_t size() const { return static_cast<int64_t>(must.size()); }
};

/// A Bool over the variable "x" that holds for every value that must be in the set and for none that may not: intervals, residue classes,
/// and unions of a few. Bounds beyond which the line, or what may not be in the set, has nothing are left out. Null when there is no such
/// short condition. `distance`: x is a difference, so that symmetric intervals become abs(x) <= w.
ir::Expr describe(const LineSet& set, bool distance);

/// Which of the values of the line the condition (over "x") allows, by evaluating it at each.
std::vector<char> members(const ir::Expr& condition, const LineSet& set);

}  // namespace heddle::analysis
