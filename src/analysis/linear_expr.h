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

bool any_mentions(const std::vector<ir::Expr>& exprs, const std::string& variable);

}  // namespace heddle::analysis
