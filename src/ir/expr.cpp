#include "src/ir/expr.h"
#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include "heddle/bind_program.h"
#include "heddle/error.h"
#include "src/support/hash.h"

namespace heddle::ir {

namespace {

constexpr int64_t kSaturated = int64_t{1} << 61;

[[noreturn]] void fail(Op op, const std::string& message) {
  throw InternalError("expression", fmt::format("operation '{}' {}", op_text(op), message));
}

Expr seal(ExprNode node) {
  support::Hasher hasher;
  hasher.add(static_cast<uint64_t>(node.op)).add(static_cast<uint64_t>(node.type));
  hasher.add(static_cast<uint64_t>(node.integer)).add(node.real).add(std::string_view(node.name));
  for (const Expr& operand : node.operands) {
    hasher.add(operand->hash);
    node.depth = std::max(node.depth, operand->depth + 1);
    node.size = std::min(kSaturated, node.size + operand->size);
  }
  node.hash = hasher.value();
  return std::make_shared<const ExprNode>(std::move(node));
}

Expr leaf(Op op, Type type, int64_t integer, double real, std::string name) {
  ExprNode node{.op = op, .type = type, .integer = integer, .real = real, .name = std::move(name), .operands = {}};
  return seal(std::move(node));
}

void require(const Expr& operand, Type type, Op op) {
  if (operand->type != type) fail(op, "has an operand of the wrong type");
}

/// Wraps Int operands from `first` on when one of them is Real; refuses Bool ones unless all are.
Type unify(std::vector<Expr>& operands, size_t first, Op op, bool allow_bool) {
  const auto begin = operands.begin() + static_cast<std::ptrdiff_t>(first);
  const auto is = [](Type type) { return [type](const Expr& e) { return e->type == type; }; };
  if (std::any_of(begin, operands.end(), is(Type::Bool))) {
    if (!allow_bool || !std::all_of(begin, operands.end(), is(Type::Bool))) fail(op, "has a Bool operand");
    return Type::Bool;
  }
  if (std::none_of(begin, operands.end(), is(Type::Real))) return Type::Int;
  for (auto it = begin; it != operands.end(); ++it) {
    if ((*it)->type == Type::Int) *it = make(Op::ToReal, {*it});
  }
  return Type::Real;
}

/// Checks and unifies operands; returns the result type.
Type check(Op op, std::vector<Expr>& operands) {
  switch (op) {
    case Op::ToReal:
      require(operands[0], Type::Int, op);
      return Type::Real;
    case Op::Mod: {
      const Type type = unify(operands, 0, op, false);
      if (type == Type::Real) fail(op, "has a Real operand");
      return type;
    }
    case Op::Neg: case Op::Add: case Op::Sub: case Op::Mul: case Op::Div: case Op::Abs: case Op::Min: case Op::Max:
      return unify(operands, 0, op, false);
    case Op::Lt: case Op::Le: case Op::Gt: case Op::Ge: case Op::Eq: case Op::Ne:
      unify(operands, 0, op, false);
      return Type::Bool;
    case Op::And: case Op::Or: case Op::Not:
      for (const Expr& operand : operands) require(operand, Type::Bool, op);
      return Type::Bool;
    case Op::Select:
      require(operands[0], Type::Bool, op);
      return unify(operands, 1, op, true);
    case Op::Exp: case Op::Log: case Op::Tanh: case Op::Sigmoid: case Op::Sqrt: case Op::Exp2: case Op::Log2:
      if (operands[0]->type == Type::Int) operands[0] = make(Op::ToReal, {operands[0]});
      require(operands[0], Type::Real, op);
      return Type::Real;
    case Op::IntConst: case Op::RealConst: case Op::BoolConst: case Op::Var: case Op::Param: case Op::Arg: case Op::Read:
      break;
  }
  fail(op, "is made otherwise");
}

}  // namespace

const char* op_text(Op op) {
  switch (op) {
#define X(name, arity, text) \
  case Op::name:             \
    return text;
    HEDDLE_EXPR_OPS(X)
#undef X
  }
  return "?";
}

int op_arity(Op op) {
  switch (op) {
#define X(name, arity, text) \
  case Op::name:             \
    return arity;
    HEDDLE_EXPR_OPS(X)
#undef X
  }
  return 0;
}

Expr int_const(int64_t value) { return leaf(Op::IntConst, Type::Int, value, 0, {}); }
Expr real_const(double value) { return leaf(Op::RealConst, Type::Real, 0, value, {}); }
Expr bool_const(bool value) { return leaf(Op::BoolConst, Type::Bool, value, 0, {}); }

Expr var(std::string name, Type type) {
  if (type == Type::Bool) fail(Op::Var, "cannot be Bool");
  return leaf(Op::Var, type, 0, 0, std::move(name));
}

Expr param(std::string name, Type type) {
  if (type == Type::Bool) fail(Op::Param, "cannot be Bool");
  return leaf(Op::Param, type, 0, 0, std::move(name));
}

Expr arg(int index, Type type) {
  if (type != Type::Real || index < 0) fail(Op::Arg, "must be Real with an index of 0 or more");
  return leaf(Op::Arg, type, index, 0, {});
}

Expr read(std::string table, DType element, std::vector<Expr> indices) {
  if (indices.empty() || indices.size() > kMaxTableRank) fail(Op::Read, "has no indices or too many");
  if (!is_table_type(element)) fail(Op::Read, "cannot read elements of type " + to_string(element));
  for (const Expr& index : indices) require(index, Type::Int, Op::Read);
  const Type type = element == DType::Float32 ? Type::Real : Type::Int;
  return seal(ExprNode{.op = Op::Read, .type = type, .integer = static_cast<int64_t>(element), .name = std::move(table), .operands = std::move(indices)});
}

Expr with_operands(const ExprNode& node, std::vector<Expr> operands) {
  return node.op == Op::Read ? read(node.name, element_type(node), std::move(operands)) : make(node.op, std::move(operands));
}

bool is_table_type(DType type) {
  return type == DType::Int32 || type == DType::Int64 || type == DType::UInt8 || type == DType::Bool || type == DType::Float32;
}

Expr make(Op op, std::vector<Expr> operands) {
  if (static_cast<int>(operands.size()) != op_arity(op)) {
    fail(op, fmt::format("takes {} operands, not {}", op_arity(op), operands.size()));
  }
  if (std::any_of(operands.begin(), operands.end(), [](const Expr& e) { return e == nullptr; })) fail(op, "has a null operand");
  const Type type = check(op, operands);
  return seal(ExprNode{.op = op, .type = type, .name = {}, .operands = std::move(operands)});
}

bool equal(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (!a || !b || a->hash != b->hash || a->op != b->op || a->type != b->type || a->size != b->size) return false;
  if (a->integer != b->integer || std::bit_cast<uint64_t>(a->real) != std::bit_cast<uint64_t>(b->real) || a->name != b->name) return false;
  return std::equal(a->operands.begin(), a->operands.end(), b->operands.begin(), b->operands.end(), equal);
}

}  // namespace heddle::ir
