// Expressions read as linear in one variable.
#pragma once
#include <optional>
#include <string>
#include <vector>
#include "src/ir/expr.h"

namespace heddle::analysis {

/// coefficient * variable + rest, where rest does not mention the variable.
struct Linear {
  int64_t coefficient = 0;
  ir::Expr rest;
};

/// Through sums, differences, negations and products with constants; nullopt when the variable occurs anywhere else.
std::optional<Linear> linear(const ir::Expr& expr, const std::string& variable);

/// A period of the expression in the variable, at most `longest`, found through sums, multiples, and / and % by constants:
/// `v % 8`, `v - 8 * ((v - q) / 8)`, comparisons of those. nullopt where none is found.
std::optional<int64_t> period(const ir::Expr& expr, const std::string& variable, int64_t longest);

bool any_mentions(const std::vector<ir::Expr>& exprs, const std::string& variable);

}  // namespace heddle::analysis
