#include "src/codegen/clike/expr_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>

#include "heddle/error.h"

namespace heddle::codegen::clike {
namespace {

using ir::Expr;
using ir::Op;
using ir::Type;

enum Level : int { kChoice = 1, kOrElse, kAndAlso, kBitOr, kBitAnd, kEquality, kRelation, kShift, kSum, kProduct, kUnary, kPrimary };

/// Comparisons may clamp a wide operand into 32 bits where the other stays this far inside.
constexpr ir::Interval kNarrow = {-(int64_t{1} << 31) + 2, (int64_t{1} << 31) - 3};

std::string within(const Text& text, int level) { return text.level < level ? "(" + text.text + ")" : text.text; }

Text infix(const char* op, int level, const Text& a, const Text& b, int width) {
  // A right operand of the same level needs parentheses: a - (b - c).
  return {fmt::format("{} {} {}", within(a, level), op, within(b, level + 1)), level, a.varying || b.varying, width};
}

/// The same value in every lane.
Text spread(const Text& text) {
  if (text.varying) return text;
  return {"splat(" + text.text + ")", kPrimary, true, text.bits};
}

/// `a & b` of plain bools is an int: as an argument it must choose the overload for vbool.
Text lanes_of(const Text& text) {
  return text.level == kBitAnd || text.level == kBitOr ? Text{"vbool(" + text.text + ")", kPrimary, text.varying, text.bits} : text;
}

Text call(const char* function, const Text& a, int width) {
  return {fmt::format("{}({})", function, a.text), kPrimary, a.varying, width};
}

Text call(const char* function, Text a, Text b, int width) {
  if (a.varying != b.varying) a = spread(a), b = spread(b);
  return {fmt::format("{}({}, {})", function, a.text, b.text), kPrimary, a.varying, width};
}

std::string integer_literal(int64_t value, int width) {
  if (width == 32) return std::to_string(value);
  if (value == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807LL - 1)";
  return fmt::format("(i64){}{}", value, value == static_cast<int32_t>(value) ? "" : "LL");
}

const char* sign(Op op) {
  switch (op) {
    case Op::Add: return "+";
    case Op::Sub: return "-";
    case Op::Mul: return "*";
    case Op::Div: return "/";
    default: return ir::op_text(op);
  }
}

const char* wrapping(Op op) {
  switch (op) {
    case Op::Add: return "wrap_add";
    case Op::Sub: return "wrap_sub";
    case Op::Mul: return "wrap_mul";
    default: return "wrap_neg";
  }
}

const char* real_function(Op op) {
  switch (op) {
    case Op::Abs: return "real_abs";
    case Op::Min: return "real_min";
    case Op::Max: return "real_max";
    case Op::Exp: return "real_exp";
    case Op::Log: return "real_log";
    case Op::Tanh: return "real_tanh";
    case Op::Sigmoid: return "real_sigmoid";
    case Op::Sqrt: return "real_sqrt";
    case Op::Exp2: return "real_exp2";
    case Op::Log2: return "real_log2";
    default: throw InternalError("clike emitter", std::string("no f32 form of ") + ir::op_text(op));
  }
}

}  // namespace

std::string real_literal(double value) {
  const auto single = static_cast<float>(value);
  if (std::isnan(single)) return "(HD_INF - HD_INF)";
  if (std::isinf(single)) return single > 0 ? "HD_INF" : "-HD_INF";
  if (single == -FLT_MAX) return "HD_LOWEST";
  std::string text = fmt::format("{}", single);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

void ExprText::define(const std::string& name, Leaf leaf) {
  ranges_[name] = leaf.range;
  leaves_[name] = std::move(leaf);
}

int ExprText::bits(const Expr& expr) const {
  if (expr->type != Type::Int) return 32;
  if (expr->op == Op::Read) return ir::element_type(*expr) == DType::Int64 ? 64 : 32;
  if (expr->op == Op::Var || expr->op == Op::Param) return leaf(*expr).bits;
  const ir::Interval found = range(expr);
  if (found.low < kNarrow.low || found.high > kNarrow.high) return 64;
  const auto narrow = [&](const Expr& operand) { return operand->type != Type::Int || bits(operand) == 32; };
  return std::all_of(expr->operands.begin(), expr->operands.end(), narrow) ? 32 : 64;
}

Text ExprText::text(const Expr& expr) const {
  if (expr->op == Op::Read) return read(*expr);
  if (expr->operands.empty()) return leaf(*expr);
  if (expr->op == Op::Select) return choice(expr);
  switch (expr->type) {
    case Type::Int: return integer(expr);
    case Type::Real: return real(expr);
    case Type::Bool: break;
  }
  return expr->op == Op::And || expr->op == Op::Or || expr->op == Op::Not ? logic(expr) : comparison(expr);
}

std::string ExprText::varying(const Expr& expr) const { return spread(text(expr)).text; }

std::string ExprText::uniform(const Expr& expr) const {
  const Text made = text(expr);
  if (made.varying) throw InternalError("clike emitter", "not the same in all lanes: " + ir::print(expr));
  return made.text;
}

Text ExprText::leaf(const ir::ExprNode& node) const {
  switch (node.op) {
    case Op::IntConst: {
      const int width = node.integer >= kNarrow.low && node.integer <= kNarrow.high ? 32 : 64;
      return {integer_literal(node.integer, width), node.integer < 0 || width == 64 ? kUnary : kPrimary, false, width};
    }
    case Op::RealConst: return {real_literal(node.real), node.real < 0 ? kUnary : kPrimary, false, 32};
    case Op::BoolConst: return {node.integer ? "true" : "false", kPrimary, false, 32};
    case Op::Arg: return {arguments_.at(static_cast<int>(node.integer)), kPrimary, true, 32};
    default: return named(node);
  }
}

Text ExprText::named(const ir::ExprNode& node) const {
  const auto found = leaves_.find(node.name);
  if (found == leaves_.end()) throw InternalError("clike emitter", "no value of '" + node.name + "' here");
  return {found->second.text, kPrimary, found->second.varying, found->second.bits};
}

Text ExprText::widened(const Expr& expr, int width) const {
  if (expr->op == Op::IntConst) return {integer_literal(expr->integer, width), kUnary, false, width};
  Text made = text(expr);
  if (made.bits == width) return made;
  made = made.varying ? Text{"wide(" + made.text + ")", kPrimary, true, 64} : Text{"(i64)" + within(made, kUnary), kUnary, false, 64};
  return made;
}

Text ExprText::integer(const Expr& expr) const {
  const int width = bits(expr);
  if (expr->op == Op::Div || expr->op == Op::Mod) return division(expr, width);
  const Text a = widened(expr->operands[0], width);
  if (expr->op == Op::Abs) return call("iabs", a, width);
  const bool may_wrap = width == 64 && range(expr) == ir::Interval::full();
  if (expr->op == Op::Neg) return may_wrap ? call("wrap_neg", a, width) : Text{"-" + within(a, kPrimary), kUnary, a.varying, width};
  const Text b = widened(expr->operands[1], width);
  if (expr->op == Op::Min) return call("imin", a, b, width);
  if (expr->op == Op::Max) return call("imax", a, b, width);
  if (may_wrap) return call(wrapping(expr->op), a, b, width);
  return infix(sign(expr->op), expr->op == Op::Mul ? kProduct : kSum, a, b, width);
}

Text ExprText::division(const Expr& expr, int width) const {
  const Expr &dividend = expr->operands[0], &divisor = expr->operands[1];
  const bool quotient = expr->op == Op::Div;
  const Text a = widened(dividend, width), b = widened(divisor, width);
  const std::optional<int64_t> constant = ir::as_int_constant(divisor);
  if (constant && *constant > 0 && std::has_single_bit(static_cast<uint64_t>(*constant))) {
    const Text shift = {std::to_string(std::countr_zero(static_cast<uint64_t>(*constant))), kPrimary, false, width};
    const Text mask = {integer_literal(*constant - 1, width), kUnary, false, width};
    const Text whole = {within(a, kUnary), kPrimary, a.varying, width};  // shifts and masks of sums are read more easily in parentheses
    return quotient ? infix(">>", kShift, whole, shift, width) : infix("&", kBitAnd, whole, mask, width);
  }
  if (constant && *constant > 0 && range(dividend).low >= 0) return infix(quotient ? "/" : "%", kProduct, a, b, width);
  return {fmt::format("{}({}, {})", quotient ? "floor_div" : "floor_mod", a.text, b.text), kPrimary, a.varying || b.varying, width};
}

Text ExprText::comparison(const Expr& expr) const {
  const Expr &left = expr->operands[0], &right = expr->operands[1];
  const int level = expr->op == Op::Eq || expr->op == Op::Ne ? kEquality : kRelation;
  if (left->type != Type::Int) return infix(sign(expr->op), level, text(left), text(right), 32);
  const Text a = text(left), b = text(right);
  if (a.bits == b.bits) {
    const Text compared = infix(sign(expr->op), level, a, b, 32);
    return a.bits == 64 && compared.varying ? call("narrow", compared, 32) : compared;
  }
  const Text& wide = a.bits == 64 ? a : b;
  const ir::Interval other = range(a.bits == 64 ? right : left);
  if (!wide.varying && other.low >= kNarrow.low && other.high <= kNarrow.high) {
    const Text clamped = call("clamp_i32", wide, 32);
    return infix(sign(expr->op), level, a.bits == 64 ? clamped : a, a.bits == 64 ? b : clamped, 32);
  }
  const Text compared = infix(sign(expr->op), level, widened(left, 64), widened(right, 64), 32);
  return compared.varying ? call("narrow", compared, 32) : compared;
}

Text ExprText::logic(const Expr& expr) const {
  Text a = text(expr->operands[0]);
  if (expr->op == Op::Not) return {"!" + within(a, kUnary), kUnary, a.varying, 32};
  Text b = text(expr->operands[1]);
  const bool varying = a.varying || b.varying, both = expr->op == Op::And;
  if (varying) a = spread(a), b = spread(b);
  const char* op = varying ? (both ? "&" : "|") : (both ? "&&" : "||");
  const int level = varying ? (both ? kBitAnd : kBitOr) : (both ? kAndAlso : kOrElse);
  // The operators are associative: chains need no parentheses.
  return {fmt::format("{} {} {}", within(a, level), op, within(b, level)), level, varying, 32};
}

Text ExprText::choice(const Expr& expr) const {
  const int width = bits(expr);
  const Text condition = text(expr->operands[0]);
  const auto branch = [&](size_t i) {
    return expr->type == Type::Int ? widened(expr->operands[i], width) : text(expr->operands[i]);
  };
  Text a = branch(1), b = branch(2);
  if (condition.varying || a.varying || b.varying) a = spread(a), b = spread(b);
  if (expr->type == Type::Bool) a = lanes_of(a), b = lanes_of(b);
  if (condition.varying) return {fmt::format("select({}, {}, {})", condition.text, a.text, b.text), kPrimary, true, width};
  return {fmt::format("{} ? {} : {}", within(condition, kOrElse), within(a, kOrElse), within(b, kChoice)), kChoice, a.varying, width};
}

Text ExprText::real(const Expr& expr) const {
  const Text a = text(expr->operands[0]);
  if (expr->op == Op::ToReal) {
    return a.varying ? call("to_real", a, 32) : Text{"(f32)" + within(a, kUnary), kUnary, false, 32};
  }
  if (expr->op == Op::Neg) return {"-" + within(a, kPrimary), kUnary, a.varying, 32};
  const bool two = expr->operands.size() == 2;
  switch (expr->op) {
    case Op::Add: case Op::Sub: return infix(sign(expr->op), kSum, a, text(expr->operands[1]), 32);
    case Op::Mul: case Op::Div: return infix(sign(expr->op), kProduct, a, text(expr->operands[1]), 32);
    default: return two ? call(real_function(expr->op), a, text(expr->operands[1]), 32) : call(real_function(expr->op), a, 32);
  }
}

Text ExprText::read(const ir::ExprNode& node) const {
  const TableLeaf& table = tables_.at(node.name);
  std::string offset;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const std::string index = spread(widened(node.operands[i], 64)).text;
    offset += fmt::format("{}clamp_index({}, {}) * {}", i ? " + " : "", index, table.last[i], table.stride[i]);
  }
  const DType type = ir::element_type(node);
  const char* load = type == DType::Int32     ? "ld_global_i32"
                     : type == DType::Int64   ? "ld_global_i64"
                     : type == DType::Float32 ? "ld_global_f32"
                                              : "ld_global_u8";
  const std::string element = fmt::format("{}({}, {})", load, table.data, offset);
  if (type != DType::Bool) return {element, kPrimary, true, type == DType::Int64 ? 64 : 32};
  return {fmt::format("select({} != 0, splat(1), splat(0))", element), kPrimary, true, 32};
}

}  // namespace heddle::codegen::clike
