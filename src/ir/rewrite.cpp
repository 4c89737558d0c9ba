#include "src/ir/rewrite.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heddle::ir {

namespace {

class Substitution {
 public:
  explicit Substitution(const std::function<Expr(const ExprNode&)>& leaf) : leaf_(leaf) {}

  Expr apply(const Expr& expr) {
    if (expr->operands.empty()) {
      Expr replacement = leaf_(*expr);
      return replacement ? replacement : expr;
    }
    const auto found = done_.find(expr.get());
    return found != done_.end() ? found->second : done_[expr.get()] = rebuild(expr);
  }

 private:
  Expr rebuild(const Expr& expr) {
    std::vector<Expr> operands;
    for (const Expr& operand : expr->operands) operands.push_back(apply(operand));
    return operands == expr->operands ? expr : make(expr->op, std::move(operands));
  }

  const std::function<Expr(const ExprNode&)>& leaf_;
  std::unordered_map<const ExprNode*, Expr> done_;
};

class Walk {
 public:
  explicit Walk(const std::function<void(const Expr&)>& see) : see_(see) {}

  void run(const Expr& expr) {
    if (!expr || !seen_.insert(expr.get()).second) return;
    for (const Expr& operand : expr->operands) run(operand);
    see_(expr);
  }

 private:
  const std::function<void(const Expr&)>& see_;
  std::unordered_set<const ExprNode*> seen_;
};

}  // namespace

void for_each_node(const Expr& expr, const std::function<void(const Expr&)>& see) { Walk(see).run(expr); }

Expr substitute(const Expr& expr, const std::function<Expr(const ExprNode&)>& leaf) { return Substitution(leaf).apply(expr); }

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

bool mentions(const Expr& expr, const std::string& variable) { return variables(expr).count(variable) > 0; }

std::optional<int64_t> as_int_constant(const Expr& expr) {
  if (expr->type != Type::Int) return std::nullopt;
  const Expr simple = simplify(expr);
  if (simple->op != Op::IntConst) return std::nullopt;
  return simple->integer;
}

}  // namespace heddle::ir
