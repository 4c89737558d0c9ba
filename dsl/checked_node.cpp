#include "dsl/checked_node.h"
#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include "heddle/bind_program.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle::dsl {

namespace {

using ir::Expr;
using ir::Op;
using ir::Type;
using support::quote;

/// One node in the making.
struct Draft {
  Op op;
  std::string_view name;
  std::vector<Expr> operands;
  const Place& place;

  std::string shown(size_t operand) const {
    const Source& source = place.source;
    return quote(source.text.empty() ? print(operands[operand]) : std::string(source.at(place.operands[operand])));
  }
  [[noreturn]] void fail_at(size_t operand, const std::string& message, const std::string& hint) const {
    place.source.fail(message, place.operands[operand], hint);
  }
};

void require_condition(const Draft& draft, size_t i) {
  if (draft.operands[i]->type == Type::Bool) return;
  const char* zero = draft.operands[i]->type == Type::Real ? "0.0" : "0";
  draft.fail_at(i, fmt::format("'{}' needs {}, but {} is {}", draft.name, draft.op == Op::And || draft.op == Op::Or ? "conditions" : "a condition",
                               draft.shown(i), type_name(draft.operands[i]->type)),
                fmt::format("compare it with something, as in `... != {}`", zero));
}

void require_number(const Draft& draft, size_t i) {
  if (draft.operands[i]->type != Type::Bool) return;
  const bool equality = draft.op == Op::Eq || draft.op == Op::Ne;
  draft.fail_at(i, fmt::format("'{}' needs {}, but {} is a condition", draft.name, draft.operands.size() > 1 ? "numbers" : "a number", draft.shown(i)),
                equality ? "combine conditions with &&, || and !" : "`condition ? 1 : 0` makes a number of a condition");
}

void require_integer(const Draft& draft, size_t i) {
  require_number(draft, i);
  if (draft.operands[i]->type == Type::Int) return;
  draft.fail_at(i, fmt::format("'{}' needs integers, but {} is a real number", draft.name, draft.shown(i)), "");
}

void check_select(const Draft& draft) {
  require_condition(draft, 0);
  const Type a = draft.operands[1]->type, b = draft.operands[2]->type;
  if ((a == Type::Bool) == (b == Type::Bool)) return;
  draft.place.source.fail(fmt::format("the branches of '?:' differ: {} is {}, but {} is {}", draft.shown(1), type_name(a), draft.shown(2), type_name(b)),
                          join(draft.place.operands[1], draft.place.operands[2]), "make both numbers, or both conditions");
}

void check_types(const Draft& draft) {
  if (draft.op == Op::Select) return check_select(draft);
  const bool junction = draft.op == Op::And || draft.op == Op::Or || draft.op == Op::Not;
  for (size_t i = 0; i < draft.operands.size(); ++i) {
    if (junction) require_condition(draft, i);
    else if (draft.op == Op::Mod) require_integer(draft, i);
    else require_number(draft, i);
  }
}

bool is_zero(const Expr& e) {
  if (e->type == Type::Int) return ir::as_int_constant(e) == 0;
  return (e->op == Op::RealConst && e->real == 0) || (e->op == Op::ToReal && is_zero(e->operands[0]));
}

void check_divisor(const Draft& draft) {
  if ((draft.op != Op::Div && draft.op != Op::Mod) || !is_zero(draft.operands[1])) return;
  const bool plain = draft.shown(1) == "'0'" || draft.shown(1) == "'0.0'";
  draft.fail_at(1, fmt::format("'{}' by zero{}", draft.name, plain ? "" : ": " + draft.shown(1) + " is 0"), "use a divisor that is not 0");
}

void check_size(const Draft& draft) {
  int depth = 0;
  int64_t size = 1;
  for (const Expr& operand : draft.operands) {
    depth = std::max(depth, operand->depth);
    size += operand->size;
  }
  const char* hint = "split the mask, or state its pattern with /, %, min and max";
  if (depth >= ir::kMaxDepth) {
    draft.place.source.fail(fmt::format("the formula chains more than {} operations", ir::kMaxDepth), draft.place.node, hint);
  }
  if (size > ir::kMaxSize) {
    draft.place.source.fail(fmt::format("the formula has more than {} operations once clamp and softcap are expanded", ir::kMaxSize),
                            draft.place.node, hint);
  }
}

/// The value of an operation on integer constants, or nothing where it leaves int64.
std::optional<int64_t> constant_value(Op op, const std::vector<Expr>& operands) {
  __extension__ using Wide = __int128;
  const Wide a = operands[0]->integer, b = operands.size() > 1 ? operands[1]->integer : 0;
  Wide value = 0;
  switch (op) {
    case Op::Neg: value = -a; break;
    case Op::Abs: value = a < 0 ? -a : a; break;
    case Op::Add: value = a + b; break;
    case Op::Sub: value = a - b; break;
    case Op::Mul: value = a * b; break;
    case Op::Div: value = a / b - (a % b != 0 && (a < 0) != (b < 0)); break;
    case Op::Mod: value = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0); break;
    case Op::Min: value = std::min(a, b); break;
    default: value = std::max(a, b); break;
  }
  if (value < INT64_MIN || value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

bool folds(const Draft& draft) {
  const bool arithmetic = draft.op >= Op::Neg && draft.op <= Op::Max;
  return arithmetic && std::all_of(draft.operands.begin(), draft.operands.end(), [](const Expr& e) { return e->op == Op::IntConst; });
}

Expr folded(const Draft& draft) {
  if (const auto value = constant_value(draft.op, draft.operands)) return ir::int_const(*value);
  const Source& source = draft.place.source;
  const std::string shown = source.text.empty() ? fmt::format("'{}' of constants", draft.name) : quote(source.at(draft.place.node));
  source.fail(shown + " does not fit into a 64-bit integer", draft.place.node, "integers reach from -2^63 to 2^63 - 1");
}

}  // namespace

void Source::fail(const std::string& message, Range range, const std::string& hint) const {
  if (text.empty()) throw UserError(message, hint);
  throw UserError(message, SourceSpan{std::string(text), std::string(origin), range.offset, range.length}, hint);
}

Expr checked(Op op, std::string_view name, std::vector<Expr> operands, const Place& place) {
  const Draft draft{op, name, std::move(operands), place};
  check_types(draft);
  check_divisor(draft);
  if (folds(draft)) return folded(draft);
  if (op == Op::Neg && draft.operands[0]->op == Op::RealConst) return ir::real_const(-draft.operands[0]->real);
  if (op == Op::ToReal) return promoted(draft.operands[0]);
  check_size(draft);
  return make(op, draft.operands);
}

Expr read_node(const std::string& table, DType element, const std::vector<Expr>& indices, const std::vector<Range>& places,
               const Place& place) {
  if (indices.size() > kMaxTableRank) {
    place.source.fail(fmt::format("the table '{}' is read with {} indices; at most {} are", table, indices.size(), kMaxTableRank), place.node);
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i]->type == Type::Int) continue;
    const Range at = i < places.size() ? places[i] : Range{};
    const std::string shown = quote(place.source.text.empty() ? print(indices[i]) : std::string(place.source.at(at)));
    place.source.fail(fmt::format("an index of '{}' must be an integer, but {} is {}", table, shown, type_name(indices[i]->type)), at);
  }
  check_size({Op::Read, table, indices, place});
  return ir::read(table, element, indices);
}

Expr promoted(const Expr& expr) { return expr->type == Type::Int ? make(Op::ToReal, {expr}) : expr; }

Expr clamp_node(const std::vector<Expr>& operands, const Place& place) {
  const Expr raised = checked(Op::Max, "clamp", {operands[0], operands[1]}, place);
  const Place outer{place.source, place.node, {place.operands[0], place.operands[2], {}}};
  return checked(Op::Min, "clamp", {raised, operands[2]}, outer);
}

Expr softcap_node(const std::vector<Expr>& operands, const Place& place) {
  for (size_t i = 0; i < 2; ++i) require_number({Op::Mul, "softcap", operands, place}, i);
  const Expr x = promoted(operands[0]), cap = promoted(operands[1]);
  const Expr ratio = checked(Op::Div, "softcap", {x, cap}, place);
  return checked(Op::Mul, "softcap", {cap, checked(Op::Tanh, "softcap", {ratio}, place)}, place);
}

const char* type_name(Type type) {
  switch (type) {
    case Type::Bool: return "a condition";
    case Type::Int: return "an integer";
    default: return "a real number";
  }
}

}  // namespace heddle::dsl
