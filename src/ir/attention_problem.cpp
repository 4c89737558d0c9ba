#include "src/ir/attention_problem.h"
#include <fmt/format.h>
#include "src/ir/rewrite.h"

namespace heddle::ir {

namespace {

template <typename T>
std::string option_text(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "auto";
}

/// "off:int scale:real"; parameters of equal name and different type differ.
std::string parameter_text(const std::vector<std::string>& names, const char* type) {
  std::string text;
  for (const std::string& name : names) text += fmt::format(" {}:{}", name, type);
  return text;
}

}  // namespace

std::string canonical_text(const AttentionProblem& problem) {
  const Expr mask = problem.mask ? simplify(problem.mask) : bool_const(true);
  const Expr score = problem.score ? simplify(problem.score) : var("s", Type::Real);
  const ParameterOrder order = parameter_order(problem);
  std::string text = fmt::format("mask {}\nscore {}\n", print(mask), print(score));
  text += fmt::format("parameters{}{}\n", parameter_text(order.ints, "int"), parameter_text(order.reals, "real"));
  for (const TableDeclaration& table : table_order(problem)) text += fmt::format("table {} {} {}\n", table.name, to_string(table.dtype), table.rank);
  text += fmt::format("head_dim {}\nvalue_dim {}\nlse {}\n", problem.head_dim, problem.value_dim, problem.lse);
  if (problem.dtype != DType::Float32) text += fmt::format("dtype {}\n", to_string(problem.dtype));
  if (problem.probabilities) text += "probabilities\n";
  if (problem.few_queries) text += "few_queries\n";
  text += fmt::format("target {}\n", problem.target.to_string());
  text += fmt::format("tile_rows {}\nuse_nests {}\n", option_text(problem.options.tile_rows), option_text(problem.options.use_nests));
  return text;
}

ParameterOrder parameter_order(const AttentionProblem& problem) {
  std::set<std::string> ints, reals;
  for (const Expr& formula : {problem.mask, problem.score}) {
    if (!formula) continue;
    for (const auto& [name, type] : parameters(formula)) (type == Type::Int ? ints : reals).insert(name);
  }
  return {{ints.begin(), ints.end()}, {reals.begin(), reals.end()}};
}

std::vector<TableDeclaration> table_order(const AttentionProblem& problem) {
  std::map<std::string, TableDeclaration> uses;
  for (const Expr& formula : {problem.mask, problem.score}) uses.merge(tables(formula));
  std::vector<TableDeclaration> order;
  for (const auto& [name, use] : uses) order.push_back(use);
  return order;
}

}  // namespace heddle::ir
