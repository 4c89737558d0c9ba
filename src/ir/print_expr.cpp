#include <fmt/format.h>
#include <cmath>
#include "src/ir/expr.h"

namespace heddle::ir {

namespace {

/// How tightly an expression's outermost operator binds; operands that bind less tightly get parentheses.
enum Binding { kSelect, kOr, kAnd, kEquality, kOrder, kSum, kProduct, kUnary, kPrimary };

Binding binding(const ExprNode& node) {
  switch (node.op) {
    case Op::Select: return kSelect;
    case Op::Or: return kOr;
    case Op::And: return kAnd;
    case Op::Eq: case Op::Ne: return kEquality;
    case Op::Lt: case Op::Le: case Op::Gt: case Op::Ge: return kOrder;
    case Op::Add: case Op::Sub: return kSum;
    case Op::Mul: case Op::Div: case Op::Mod: return kProduct;
    case Op::Neg: case Op::Not: return kUnary;
    case Op::IntConst: return node.integer < 0 ? kUnary : kPrimary;
    case Op::RealConst: return std::signbit(node.real) ? kUnary : kPrimary;
    default: return kPrimary;
  }
}

bool takes_reals(Op op) {
  switch (op) {
    case Op::Exp: case Op::Log: case Op::Tanh: case Op::Sigmoid: case Op::Sqrt: case Op::Exp2: case Op::Log2: return true;
    default: return false;
  }
}

/// True when the grammar promotes this ToReal operand by itself: an operand of a real function, or beside one that is Real anyway.
bool implied(const ExprNode& parent, size_t index) {
  if (parent.operands[index]->op != Op::ToReal) return false;
  if (takes_reals(parent.op)) return true;
  const size_t first = parent.op == Op::Select ? 1 : 0;
  if (parent.operands.size() != first + 2) return false;
  const size_t other = index == first ? first + 1 : first;
  const bool other_implied = parent.operands[other]->op == Op::ToReal && index < other;
  return !other_implied;
}

std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

/// Apart from the recursion, so that its buffers take no room in every frame of a deep tree.
[[gnu::noinline]] void append_leaf(std::string& text, const ExprNode& node) {
  switch (node.op) {
    case Op::IntConst: text += std::to_string(node.integer); break;
    case Op::RealConst: text += real_text(node.real); break;
    case Op::BoolConst: text += node.integer ? "true" : "false"; break;
    case Op::Arg: text += fmt::format("${}", node.integer); break;
    default: text += node.name; break;
  }
}

class Printer {
 public:
  std::string text;

  void print(const ExprNode& node) {
    switch (node.op) {
      case Op::IntConst: case Op::RealConst: case Op::BoolConst: case Op::Var: case Op::Param: case Op::Arg:
        append_leaf(text, node);
        break;
      case Op::Neg: case Op::Not:
        text += op_text(node.op);
        operand(node, 0, kUnary);
        break;
      case Op::Select: select(node); break;
      case Op::Read: list(node, node.name, "[", "]"); break;
      default: binding(node) == kPrimary ? list(node, op_text(node.op), "(", ")") : binary(node);
    }
  }

 private:
  void operand(const ExprNode& parent, size_t index, Binding least) {
    const ExprNode& node = implied(parent, index) ? *parent.operands[index]->operands[0] : *parent.operands[index];
    const bool parentheses = binding(node) < least;
    if (parentheses) text += '(';
    print(node);
    if (parentheses) text += ')';
  }

  void binary(const ExprNode& node) {
    const Binding own = binding(node);
    const bool comparison = own == kEquality || own == kOrder;
    operand(node, 0, comparison ? kSum : own);
    text.append(" ").append(op_text(node.op)).append(" ");
    operand(node, 1, comparison ? kSum : static_cast<Binding>(own + 1));
  }

  void select(const ExprNode& node) {
    operand(node, 0, kOr);
    text += " ? ";
    operand(node, 1, kSelect);
    text += " : ";
    operand(node, 2, kSelect);
  }

  /// name(a, b) and name[a, b]
  void list(const ExprNode& node, std::string_view name, const char* open, const char* close) {
    text.append(name).append(open);
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (i > 0) text += ", ";
      operand(node, i, kSelect);
    }
    text += close;
  }
};

}  // namespace

std::string print(const Expr& expr) {
  Printer printer;
  printer.print(*expr);
  return std::move(printer.text);
}

}  // namespace heddle::ir
