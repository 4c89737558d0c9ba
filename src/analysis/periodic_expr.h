// Expressions that repeat in one variable.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include "src/ir/expr.h"

namespace heddle::analysis {

/// A period of the expression in the variable, at most `longest`, found through sums, multiples, and / and % by constants:
/// `v % 8`, `v - 8 * ((v - q) / 8)`, comparisons of those. nullopt where none is found.
std::optional<int64_t> period(const ir::Expr& expr, const std::string& variable, int64_t longest);

}  // namespace heddle::analysis
