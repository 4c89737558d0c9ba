// Small exact rewrites and questions about Expr trees that every stage shares. All of them are pure functions.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include "heddle/bind_program.h"
#include "src/ir/expr.h"

namespace heddle::ir {

/// Replaces leaves: `leaf` is asked for each leaf and returns its replacement, or null to keep it.
Expr substitute(const Expr& expr, const std::function<Expr(const ExprNode&)>& leaf);

/// Calls `see` once for every distinct node, operands before their users, left to right. A null expression has no nodes.
void for_each_node(const Expr& expr, const std::function<void(const Expr&)>& see);

/// Rewrites a tree from its leaves up: `step` is given each distinct node with its operands rewritten already, and returns what
/// stands in its place (the node itself to keep it).
Expr rebuild(const Expr& expr, const std::function<Expr(const Expr&)>& step);

/// Constant folding and neutral elements (x + 0, x * 1, true && x, select of a constant, double negation,
/// min/max/abs of constants, comparisons of constants). Exact for all inputs, wrap-around included; never
/// changes the result at any pair. Example: `q + (512 - 64) >= k` becomes `q + 448 >= k`.
Expr simplify(const Expr& expr);

/// The comparison that holds exactly when `op`, one of Lt Le Gt Ge Eq Ne, does not, over Ints. Eq and Ne serve Reals too (NaN != NaN).
Op opposite(Op op);

/// Makes zero divisors mask a pair: `m` becomes `m && d1 != 0 && ...` for every Div/Mod divisor of an Int that is not a
/// non-zero constant. Use on whole masks; for a score pass the score's divisors in through `also`.
Expr guard_divisors(const Expr& mask, const Expr& also = nullptr);

std::set<std::string> variables(const Expr& expr);               ///< Names of Var leaves.
std::map<std::string, Type> parameters(const Expr& expr);        ///< Names and types of Param leaves.
std::map<std::string, TableDeclaration> tables(const Expr& expr);        ///< Tables that Read nodes name, of each its first use.
bool mentions(const Expr& expr, const std::string& variable);
std::optional<int64_t> as_int_constant(const Expr& expr);        ///< Value when the tree is a constant Int.

/// Closed integer range; full() is unknown. Arithmetic saturates to full when it may leave int64.
struct Interval {
  int64_t low, high;
  static Interval full();
  bool operator==(const Interval&) const = default;
};
/// Interval analysis of an Int expression given ranges of Var/Param names (missing names are full()).
/// Example: q in [0, 9], k in [0, 9]: `abs(q - k) % 4` is [0, 3].
Interval range(const Expr& expr, const std::map<std::string, Interval>& ranges);
/// True when every Int sub-expression stays within [low, high] for those ranges, so narrower arithmetic is exact.
bool fits(const Expr& expr, const std::map<std::string, Interval>& ranges, Interval within);

}  // namespace heddle::ir
