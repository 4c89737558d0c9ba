// The names of the formula grammar: index variables, sizes, literals and functions. All of them are reserved.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "src/ir/expr.h"

namespace heddle::dsl {

/// A function of the grammar. `op` is empty for those that stand for several nodes (clamp, softcap).
struct Function {
  std::string name;
  size_t arity;
  bool real;  ///< Takes reals (integers promote) and gives a real. Others take both kinds.
  std::optional<ir::Op> op;
};

const std::vector<Function>& functions();
const Function* find_function(std::string_view name);
std::vector<std::string> function_names();

/// b h q k, then the sizes B H Hkv Sq Sk.
const std::vector<std::string>& index_names();
bool is_index_name(std::string_view name);
/// `s`, also spelled `score`.
bool is_score_name(std::string_view name);

/// What a reserved name is ("an index variable", "a function", ...), or empty when a parameter may have it.
std::string reserved_as(std::string_view name);
/// Letters, digits and '_', not starting with a digit.
bool is_identifier(std::string_view name);

}  // namespace heddle::dsl
