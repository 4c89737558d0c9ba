// The reads of tables in formulas, each with the conditions under which its value matters.
#pragma once
#include <functional>
#include <vector>
#include "src/ir/narrow.h"

namespace heddle::ir {

/// A condition that has the value `holds` wherever a read matters.
struct Guard {
  Expr condition;
  bool holds = true;
};

/// Where a read matters: the other operands of its && chain are true, those of its || chain false, the test of its ?: branch is decided,
/// and the mask is true where a score reads.
struct Place {
  Box box;                    ///< Of all names: all points where the guards hold lie in it.
  Box alone;                  ///< The same by those guards alone that look at one position.
  std::vector<Guard> guards;
  bool reached = true;        ///< False: the guards hold nowhere.
};

/// b, h, q and k.
inline constexpr const char* kPositions[] = {"b", "h", "q", "k"};

/// Calls `see` for every read in the trees of mask and score (either may be null) that is reached, with `ranges` of names. Operands of
/// one chain that read guard one another too; one of them then stands among the guards of all, and its reads need the tables.
void for_each_guarded_read(const Expr& mask, const Expr& score, const Box& ranges, const std::function<void(const ExprNode&, const Place&)>& see);

}  // namespace heddle::ir
