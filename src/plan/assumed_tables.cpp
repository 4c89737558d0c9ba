#include "src/plan/assumed_tables.h"

#include <fmt/format.h>

#include "src/ir/rewrite.h"

namespace heddle::plan {
namespace {

using ir::Expr;
using ir::Op;

bool reads(const Expr& expr) { return !ir::tables(expr).empty(); }
bool is_key(const Expr& expr) { return expr->op == Op::Var && expr->name == "k"; }
/// A read by `position` and not by `other`.
bool read_by(const Expr& expr, const char* position, const char* other) {
  return expr->op == Op::Read && ir::mentions(expr, position) && !ir::mentions(expr, other);
}

Expr run_of(const char* position) { return ir::make(Op::Div, {ir::var(position), ir::int_const(kAssumedRun)}); }

class Assumption {
 public:
  bool found = false, whole = true;

  /// `positive`: the mask allows more pairs where this part holds.
  Expr of(const Expr& expr, bool positive) {
    if (!reads(expr)) return expr;
    if (expr->op == Op::And || expr->op == Op::Or) return ir::make(expr->op, {of(expr->operands[0], positive), of(expr->operands[1], positive)});
    if (expr->op == Op::Not) return ir::make(Op::Not, {of(expr->operands[0], !positive)});
    if (Expr known = comparison(expr)) {
      found = true;
      return known;
    }
    whole = false;
    return ir::bool_const(positive);
  }

 private:
  /// Null where nothing is known of it.
  static Expr comparison(const Expr& expr) {
    if (expr->operands.size() != 2) return nullptr;
    const Expr &a = expr->operands[0], &b = expr->operands[1];
    const bool ids = (read_by(a, "q", "k") && read_by(b, "k", "q")) || (read_by(a, "k", "q") && read_by(b, "q", "k"));
    if (ids && (expr->op == Op::Eq || expr->op == Op::Ne)) return ir::make(expr->op, {run_of("q"), run_of("k")});
    const bool first_key = (expr->op == Op::Ge && is_key(a) && read_by(b, "q", "k")) || (expr->op == Op::Le && is_key(b) && read_by(a, "q", "k"));
    if (first_key) return ir::make(Op::Ge, {ir::var("k"), ir::make(Op::Mul, {run_of("q"), ir::int_const(kAssumedRun)})});
    return nullptr;
  }
};

}  // namespace

std::optional<AssumedMask> assume_tables(const Expr& mask) {
  Assumption assumption;
  const Expr without = ir::simplify(assumption.of(mask, true));
  if (!assumption.found) return std::nullopt;
  std::string sentence = fmt::format("Tables come with each bind, so tile shapes are priced for ids that are the same for {} tokens in a row", kAssumedRun);
  if (!assumption.whole) sentence += ", and other conditions on tables that always hold";
  return AssumedMask{without, assumption.whole, std::move(sentence)};
}

}  // namespace heddle::plan
