#include "src/ir/evaluate.h"
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include "heddle/bind_program.h"
#include "heddle/error.h"
#include "src/ir/operations.h"

namespace heddle::ir {

namespace {

template <typename T>
const T& lookup(const std::map<std::string, T>& values, const ExprNode& node) {
  const auto found = values.find(node.name);
  if (found == values.end()) throw InternalError("evaluation", fmt::format("'{}' has no value", node.name));
  return found->second;
}

/// Evaluates nodes of a known type; operand types decide which overload an operand takes.
class Evaluator {
 public:
  explicit Evaluator(const Environment& environment) : environment_(environment) {}

  bool boolean(const ExprNode& node) const {
    const auto operand = [&](size_t i) -> const ExprNode& { return *node.operands[i]; };
    switch (node.op) {
      case Op::BoolConst: return node.integer != 0;
      case Op::Not: return !boolean(operand(0));
      case Op::And: return boolean(operand(0)) && boolean(operand(1));
      case Op::Or: return boolean(operand(0)) || boolean(operand(1));
      case Op::Select: return boolean(operand(boolean(operand(0)) ? 1 : 2));
      default: break;
    }
    if (operand(0).type == Type::Real) return compare(node.op, real(operand(0)), real(operand(1)));
    return compare(node.op, integer(operand(0)), integer(operand(1)));
  }

  int64_t integer(const ExprNode& node) const {
    switch (node.op) {
      case Op::IntConst: return node.integer;
      case Op::Var: case Op::Param: return lookup(environment_.ints, node);
      case Op::Read: return int_element(lookup(environment_.tables, node), indices(node).data());
      case Op::Select: return integer(*node.operands[boolean(*node.operands[0]) ? 1 : 2]);
      default: break;
    }
    const int64_t a = integer(*node.operands[0]);
    return node.operands.size() == 1 ? apply(node.op, a) : apply(node.op, a, integer(*node.operands[1]));
  }

  double real(const ExprNode& node) const {
    switch (node.op) {
      case Op::RealConst: return node.real;
      case Op::Var: case Op::Param: return lookup(environment_.reals, node);
      case Op::Arg: return argument(node);
      case Op::Read: return real_element(lookup(environment_.tables, node), indices(node).data());
      case Op::ToReal: return static_cast<double>(integer(*node.operands[0]));
      case Op::Select: return real(*node.operands[boolean(*node.operands[0]) ? 1 : 2]);
      default: break;
    }
    const double a = real(*node.operands[0]);
    return node.operands.size() == 1 ? apply(node.op, a) : apply(node.op, a, real(*node.operands[1]));
  }

 private:
  std::array<int64_t, kMaxTableRank> indices(const ExprNode& node) const {
    std::array<int64_t, kMaxTableRank> values{};
    for (size_t i = 0; i < node.operands.size(); ++i) values[i] = integer(*node.operands[i]);
    return values;
  }

  double argument(const ExprNode& node) const {
    const auto index = static_cast<size_t>(node.integer);
    if (index >= environment_.args.size()) throw InternalError("evaluation", fmt::format("operand {} has no value", index));
    return environment_.args[index];
  }

  const Environment& environment_;
};

/// Position of an element, in elements; nullopt for a table without any.
std::optional<int64_t> element_offset(const Tensor& table, const int64_t* indices) {
  int64_t offset = 0;
  for (size_t i = 0; i < table.shape.size(); ++i) {
    if (table.shape[i] < 1) return std::nullopt;
    offset += std::clamp<int64_t>(indices[i], 0, table.shape[i] - 1) * table.strides[i];
  }
  return offset;
}

template <typename T>
T element(const Tensor& table, int64_t offset) { return static_cast<const T*>(table.data)[offset]; }

void require(const Expr& expr, Type type) {
  if (expr->type != type) throw InternalError("evaluation", fmt::format("'{}' has another type than asked for", print(expr)));
}

}  // namespace

bool evaluate_bool(const Expr& expr, const Environment& environment) {
  require(expr, Type::Bool);
  return Evaluator(environment).boolean(*expr);
}

int64_t evaluate_int(const Expr& expr, const Environment& environment) {
  require(expr, Type::Int);
  return Evaluator(environment).integer(*expr);
}

double evaluate_real(const Expr& expr, const Environment& environment) {
  if (expr->type == Type::Int) return static_cast<double>(Evaluator(environment).integer(*expr));
  require(expr, Type::Real);
  return Evaluator(environment).real(*expr);
}

int64_t int_element(const Tensor& table, const int64_t* indices) {
  const std::optional<int64_t> offset = element_offset(table, indices);
  if (!offset) return 0;
  switch (table.dtype) {
    case DType::Int32: return element<int32_t>(table, *offset);
    case DType::Int64: return element<int64_t>(table, *offset);
    case DType::UInt8: return element<uint8_t>(table, *offset);
    case DType::Bool: return element<uint8_t>(table, *offset) != 0;
    default: throw InternalError("evaluation", "a table of " + to_string(table.dtype) + " is read as integers");
  }
}

double real_element(const Tensor& table, const int64_t* indices) {
  if (table.dtype != DType::Float32) throw InternalError("evaluation", "a table of " + to_string(table.dtype) + " is read as reals");
  const std::optional<int64_t> offset = element_offset(table, indices);
  return offset ? element<float>(table, *offset) : 0;
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrap_neg(a);
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

}  // namespace heddle::ir
