#include "src/ir/rewrite.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heddle::ir {

void for_each_node(const Expr& expr, const std::function<void(const Expr&)>& see) {
  struct Frame {
    const Expr* node;
    size_t next;
  };
  std::vector<Frame> path;
  std::unordered_set<const ExprNode*> seen;
  const auto enter = [&](const Expr& node) {
    if (node && seen.insert(node.get()).second) path.push_back({&node, 0});
  };
  enter(expr);
  while (!path.empty()) {
    Frame& top = path.back();
    const Expr& node = *top.node;
    if (top.next < node->operands.size()) {
      enter(node->operands[top.next++]);
    } else {
      path.pop_back();
      see(node);
    }
  }
}

Expr rebuild(const Expr& expr, const std::function<Expr(const Expr&)>& step) {
  std::unordered_map<const ExprNode*, Expr> done;
  for_each_node(expr, [&](const Expr& node) {
    std::vector<Expr> operands;
    for (const Expr& operand : node->operands) operands.push_back(done.at(operand.get()));
    done[node.get()] = step(operands == node->operands ? node : with_operands(*node, std::move(operands)));
  });
  return done.at(expr.get());
}

Expr substitute(const Expr& expr, const std::function<Expr(const ExprNode&)>& leaf) {
  return rebuild(expr, [&](const Expr& node) {
    Expr replacement = node->operands.empty() ? leaf(*node) : nullptr;
    return replacement ? replacement : node;
  });
}

Expr guard_divisors(const Expr& mask, const Expr& also) {
  std::vector<Expr> divisors;
  const auto collect = [&](const Expr& node) {
    if (node->type != Type::Int || (node->op != Op::Div && node->op != Op::Mod)) return;
    const Expr& divisor = node->operands[1];
    const auto known = [&](const Expr& other) { return equal(other, divisor); };
    if (as_int_constant(divisor).value_or(0) == 0 && std::none_of(divisors.begin(), divisors.end(), known)) divisors.push_back(divisor);
  };
  for_each_node(mask, collect);
  for_each_node(also, collect);
  Expr result = mask;
  for (const Expr& divisor : divisors) result = make(Op::And, {result, make(Op::Ne, {divisor, int_const(0)})});
  return result;
}

std::set<std::string> variables(const Expr& expr) {
  std::set<std::string> names;
  for_each_node(expr, [&](const Expr& node) {
    if (node->op == Op::Var) names.insert(node->name);
  });
  return names;
}

std::map<std::string, Type> parameters(const Expr& expr) {
  std::map<std::string, Type> types;
  for_each_node(expr, [&](const Expr& node) {
    if (node->op == Op::Param) types.emplace(node->name, node->type);
  });
  return types;
}

std::map<std::string, TableDeclaration> tables(const Expr& expr) {
  std::map<std::string, TableDeclaration> uses;
  for_each_node(expr, [&](const Expr& node) {
    if (node->op == Op::Read) uses.try_emplace(node->name, TableDeclaration{node->name, element_type(*node), static_cast<int>(node->operands.size())});
  });
  return uses;
}

bool mentions(const Expr& expr, const std::string& variable) { return variables(expr).count(variable) > 0; }

std::optional<int64_t> as_int_constant(const Expr& expr) {
  if (expr->type != Type::Int) return std::nullopt;
  const Expr simple = simplify(expr);
  if (simple->op != Op::IntConst) return std::nullopt;
  return simple->integer;
}

}  // namespace heddle::ir
