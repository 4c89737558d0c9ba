#include "dsl/dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "dsl/parser.h"
#include "heddle/error.h"
#include "src/ir/evaluate.h"
#include "src/support/text.h"

namespace heddle::dsl {
namespace {

/// Thrown inside evaluation; reported with its place by Dims.
struct BadSize {
  std::string why;
};

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; }) &&
         !std::isdigit(static_cast<unsigned char>(text[0]));
}

int64_t exact(const ir::Expr& expr);

bool holds(const ir::Expr& expr) {
  if (expr->op == ir::Op::And) return holds(expr->operands[0]) && holds(expr->operands[1]);
  if (expr->op == ir::Op::Or) return holds(expr->operands[0]) || holds(expr->operands[1]);
  if (expr->op == ir::Op::Not) return !holds(expr->operands[0]);
  if (expr->op == ir::Op::BoolConst) return expr->integer != 0;
  const ir::Expr a = ir::int_const(exact(expr->operands[0])), b = ir::int_const(exact(expr->operands[1]));
  return ir::evaluate_bool(ir::make(expr->op, {a, b}), {});
}

int64_t binary(ir::Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool bad = false;
  switch (op) {
    case ir::Op::Add:
      bad = __builtin_add_overflow(a, b, &result);
      break;
    case ir::Op::Sub:
      bad = __builtin_sub_overflow(a, b, &result);
      break;
    case ir::Op::Mul:
      bad = __builtin_mul_overflow(a, b, &result);
      break;
    case ir::Op::Min:
      result = std::min(a, b);
      break;
    case ir::Op::Max:
      result = std::max(a, b);
      break;
    default:
      if (b == 0) throw BadSize{"divides by zero"};
      bad = a == INT64_MIN && b == -1;
      if (!bad) result = op == ir::Op::Div ? ir::floor_div(a, b) : ir::floor_mod(a, b);
  }
  if (bad) throw BadSize{"passes 2^63 - 1"};
  return result;
}

/// Value of a parsed size; every step must stay within int64.
int64_t exact(const ir::Expr& expr) {
  const std::vector<ir::Expr>& operands = expr->operands;
  if (expr->op == ir::Op::IntConst) return expr->integer;
  if (expr->op == ir::Op::Select) return exact(holds(operands[0]) ? operands[1] : operands[2]);
  const int64_t a = exact(operands[0]);
  if (expr->op == ir::Op::Neg) return binary(ir::Op::Sub, 0, a);
  if (expr->op == ir::Op::Abs) return a < 0 ? binary(ir::Op::Sub, 0, a) : a;
  return binary(expr->op, a, exact(operands[1]));
}

std::vector<std::string> names_of(const std::map<std::string, int64_t>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

}  // namespace

int64_t Dims::evaluate(const JsonView& view) const {
  if (view.is_integer()) return view.integer();
  if (!view.is_string()) view.fail("expected an integer, the name of a dim or a formula of dims");
  const std::string text = view.string();
  const auto found = values_.find(text);
  if (found != values_.end()) return found->second;
  if (is_name(text)) view.fail(fmt::format("unknown dim {}", support::quote(text)), suggestion(text, names_of(values_)));
  return formula(view, text);
}

int64_t Dims::formula(const JsonView& view, const std::string& text) const {
  ParseOptions options;
  options.type = ir::Type::Int;
  options.origin = view.origin();
  for (const auto& [name, value] : values_) options.parameters[name] = value;
  try {
    return exact(parse_formula(text, options));
  } catch (const BadSize& bad) {
    view.fail(fmt::format("the size {} {}", support::quote(text), bad.why), "use smaller dims");
  }
}

int64_t Dims::size(const JsonView& view) const {
  const int64_t value = evaluate(view);
  if (value < 0) view.fail(fmt::format("the size is {}, expected 0 or more", value));
  return value;
}

Dims read_dims(const JsonView& spec, const std::map<std::string, int64_t>& overrides) {
  std::map<std::string, int64_t> values;
  if (spec.has("dims")) {
    for (const auto& [name, view] : spec.at("dims").members()) {
      if (!is_name(name)) view.fail(fmt::format("{} is no name for a dim", support::quote(name)), "use letters, digits and _");
      values[name] = view.integer();
      if (values[name] < 0) view.fail(fmt::format("the size is {}, expected 0 or more", values[name]));
    }
  }
  for (const auto& [name, value] : overrides) {
    if (!values.contains(name)) {
      throw UserError(fmt::format("the spec has no dim {}", support::quote(name)), suggestion(name, names_of(values)));
    }
    if (value < 0) throw UserError(fmt::format("dim {} is {}, expected 0 or more", support::quote(name), value));
    values[name] = value;
  }
  return Dims(std::move(values));
}

}  // namespace heddle::dsl
