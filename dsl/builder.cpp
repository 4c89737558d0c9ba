#include <fmt/format.h>
#include <cmath>
#include "dsl/checked_node.h"
#include "dsl/name_scope.h"
#include "dsl/names.h"
#include "dsl/parser.h"
#include "heddle/formula.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle {

namespace {

using ir::Expr;
using ir::Op;
using ir::Type;

const dsl::Source kNoText{};

Expr build(Op op, std::vector<Expr> operands) {
  const char* name = op == Op::Select ? "select" : ir::op_text(op);
  return dsl::checked(op, name, std::move(operands), {kNoText, {}});
}

/// Refuses a table that is read with different element types or numbers of indices.
void check_table(const ir::ExprNode& read, std::map<std::string, TableDeclaration>& seen) {
  const TableDeclaration use{read.name, ir::element_type(read), static_cast<int>(read.operands.size())};
  const TableDeclaration& first = seen.try_emplace(read.name, use).first->second;
  if (first.dtype != use.dtype) {
    throw UserError(fmt::format("the table '{}' has elements of {} and of {}", read.name, to_string(first.dtype), to_string(use.dtype)),
                    "choose another name for one");
  }
  if (first.rank != use.rank) {
    throw UserError(fmt::format("the table '{}' is read with {} and with {} indices", read.name, first.rank, use.rank),
                    "give every read one index a dimension");
  }
}

/// Refuses reals when only integers are allowed, and one name for things of different kinds.
void check_formula(const Expr& formula, bool integers_only) {
  std::map<std::string, Type> types;
  std::map<std::string, TableDeclaration> tables;
  ir::for_each_node(formula, [&](const Expr& node) {
    if (node->op == Op::Read) check_table(*node, tables);
    if (integers_only && node->type == Type::Real) {
      throw UserError(fmt::format("a mask is an integer formula, but {} is a real number", support::quote(print(node))),
                      "reals belong into the score");
    }
    if (node->op == Op::Param && types.emplace(node->name, node->type).first->second != node->type) {
      throw UserError(fmt::format("the parameter '{}' is both an integer and a real number", node->name), "choose another name for one");
    }
  });
  for (const auto& [name, use] : tables) {
    if (types.contains(name)) throw UserError(fmt::format("'{}' is both a parameter and a table", name), "choose another name for one");
  }
}

std::string parameter_name(const std::string& name) {
  dsl::check_parameters({{name, int64_t{0}}}, Type::Bool, "formula");
  return name;
}

}  // namespace

ExprHandle Index::leaf(int64_t constant) { return ir::int_const(constant); }
Real::Real(double constant) : node_(ir::real_const(constant)) {
  if (!std::isfinite(constant)) throw UserError(fmt::format("the constant {} is not finite", constant), "give it a finite value");
}
Real::Real(const Index& integer) : node_(dsl::promoted(integer.node())) {}
Condition::Condition(bool constant) : node_(ir::bool_const(constant)) {}

Index operator+(const Index& a, const Index& b) { return Index(build(Op::Add, {a.node(), b.node()})); }
Index operator-(const Index& a, const Index& b) { return Index(build(Op::Sub, {a.node(), b.node()})); }
Index operator*(const Index& a, const Index& b) { return Index(build(Op::Mul, {a.node(), b.node()})); }
Index operator/(const Index& a, const Index& b) { return Index(build(Op::Div, {a.node(), b.node()})); }
Index operator%(const Index& a, const Index& b) { return Index(build(Op::Mod, {a.node(), b.node()})); }
Index operator-(const Index& a) { return Index(build(Op::Neg, {a.node()})); }
Condition operator<(const Index& a, const Index& b) { return Condition(build(Op::Lt, {a.node(), b.node()})); }
Condition operator<=(const Index& a, const Index& b) { return Condition(build(Op::Le, {a.node(), b.node()})); }
Condition operator>(const Index& a, const Index& b) { return Condition(build(Op::Gt, {a.node(), b.node()})); }
Condition operator>=(const Index& a, const Index& b) { return Condition(build(Op::Ge, {a.node(), b.node()})); }
Condition operator==(const Index& a, const Index& b) { return Condition(build(Op::Eq, {a.node(), b.node()})); }
Condition operator!=(const Index& a, const Index& b) { return Condition(build(Op::Ne, {a.node(), b.node()})); }
Condition operator&&(const Condition& a, const Condition& b) { return Condition(build(Op::And, {a.node(), b.node()})); }
Condition operator||(const Condition& a, const Condition& b) { return Condition(build(Op::Or, {a.node(), b.node()})); }
Condition operator!(const Condition& a) { return Condition(build(Op::Not, {a.node()})); }
Index abs(const Index& x) { return Index(build(Op::Abs, {x.node()})); }
Index min(const Index& a, const Index& b) { return Index(build(Op::Min, {a.node(), b.node()})); }
Index max(const Index& a, const Index& b) { return Index(build(Op::Max, {a.node(), b.node()})); }
Index clamp(const Index& x, const Index& low, const Index& high) { return min(max(x, low), high); }
Index select(const Condition& c, const Index& a, const Index& b) { return Index(build(Op::Select, {c.node(), a.node(), b.node()})); }

Real operator+(const Real& a, const Real& b) { return Real(build(Op::Add, {a.node(), b.node()})); }
Real operator-(const Real& a, const Real& b) { return Real(build(Op::Sub, {a.node(), b.node()})); }
Real operator*(const Real& a, const Real& b) { return Real(build(Op::Mul, {a.node(), b.node()})); }
Real operator/(const Real& a, const Real& b) { return Real(build(Op::Div, {a.node(), b.node()})); }
Real operator-(const Real& a) { return Real(build(Op::Neg, {a.node()})); }
Condition operator<(const Real& a, const Real& b) { return Condition(build(Op::Lt, {a.node(), b.node()})); }
Condition operator<=(const Real& a, const Real& b) { return Condition(build(Op::Le, {a.node(), b.node()})); }
Condition operator>(const Real& a, const Real& b) { return Condition(build(Op::Gt, {a.node(), b.node()})); }
Condition operator>=(const Real& a, const Real& b) { return Condition(build(Op::Ge, {a.node(), b.node()})); }
Real abs(const Real& x) { return Real(build(Op::Abs, {x.node()})); }
Real min(const Real& a, const Real& b) { return Real(build(Op::Min, {a.node(), b.node()})); }
Real max(const Real& a, const Real& b) { return Real(build(Op::Max, {a.node(), b.node()})); }
Real clamp(const Real& x, const Real& low, const Real& high) { return min(max(x, low), high); }
Real exp(const Real& x) { return Real(build(Op::Exp, {x.node()})); }
Real log(const Real& x) { return Real(build(Op::Log, {x.node()})); }
Real tanh(const Real& x) { return Real(build(Op::Tanh, {x.node()})); }
Real sigmoid(const Real& x) { return Real(build(Op::Sigmoid, {x.node()})); }
Real sqrt(const Real& x) { return Real(build(Op::Sqrt, {x.node()})); }
Real softcap(const Real& x, const Real& cap) { return Real(dsl::softcap_node({x.node(), cap.node()}, {kNoText, {}})); }
Real select(const Condition& c, const Real& a, const Real& b) { return Real(build(Op::Select, {c.node(), a.node(), b.node()})); }

IntTable::IntTable(std::string name, DType element) : name_(parameter_name(name)), element_(element) {
  if (!ir::is_table_type(element) || element == DType::Float32) {
    throw UserError(fmt::format("the table '{}' cannot have elements of {}", name_, to_string(element)),
                    element == DType::Float32 ? "use a RealTable" : "expected int32, int64, uint8 or bool");
  }
}

Index IntTable::read(const std::vector<Index>& indices) const {
  std::vector<Expr> nodes;
  for (const Index& index : indices) nodes.push_back(index.node());
  return Index(dsl::read_node(name_, element_, nodes, {}, {kNoText, {}}));
}

RealTable::RealTable(std::string name) : name_(parameter_name(name)) {}

Real RealTable::read(const std::vector<Index>& indices) const {
  std::vector<Expr> nodes;
  for (const Index& index : indices) nodes.push_back(index.node());
  return Real(dsl::read_node(name_, DType::Float32, nodes, {}, {kNoText, {}}));
}

Index variable(const std::string& name) {
  if (dsl::is_index_name(name)) return Index(ir::var(name));
  throw UserError("unknown variable " + support::quote(name), "known: " + support::list(dsl::index_names()));
}
Real score_variable() { return Real(ir::var("s", Type::Real)); }
Index int_parameter(const std::string& name) { return Index(ir::param(parameter_name(name), Type::Int)); }
Real real_parameter(const std::string& name) { return Real(ir::param(parameter_name(name), Type::Real)); }

Mask::Mask() : node_(ir::bool_const(true)) {}

Mask::Mask(const Condition& condition) : node_(condition.node()) { check_formula(node_, true); }

Mask Mask::parse(const std::string& text, const Parameters& parameters, const std::string& origin) {
  return Mask(Condition(dsl::parse_formula(text, {Type::Bool, parameters, origin})));
}

std::string Mask::text() const { return print(node_); }

Mask Mask::causal(Align align) {
  const Index q = variable("q"), k = variable("k");
  return Mask(align == Align::TopLeft ? k <= q : k <= q + (variable("Sk") - variable("Sq")));
}

Score::Score() = default;

Score::Score(const Real& formula) : node_(formula.node()) {
  check_formula(node_, false);
  if (equal(node_, score_variable().node())) node_ = nullptr;
}

Score Score::parse(const std::string& text, const Parameters& parameters, const std::string& origin) {
  return Score(Real(dsl::parse_formula(text, {Type::Real, parameters, origin})));
}

std::string Score::text() const { return node_ ? print(node_) : "s"; }

}  // namespace heddle
