#include <algorithm>

#include "src/analysis/matrix_formula.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

Expr integer(int64_t value) { return ir::int_const(value); }
Expr binary(Op op, const Expr& a, const Expr& b) { return ir::make(op, {a, b}); }

/// Adds a condition to a conjunction that may be null.
void add(Expr& all, const Expr& one) { all = all ? binary(Op::And, all, one) : one; }

/// slope * x + base in few nodes.
Expr line(const Expr& x, int64_t slope, int64_t base) {
  if (slope == 0) return integer(base);
  const Expr scaled = slope == 1 ? x : slope == -1 ? ir::make(Op::Neg, {x}) : binary(Op::Mul, integer(slope), x);
  if (base == 0) return scaled;
  return base > 0 ? binary(Op::Add, scaled, integer(base)) : binary(Op::Sub, scaled, integer(-base));
}

/// One component as a conjunction.
class Term {
 public:
  Term(const MatrixComponent& component, Lengths lengths) : c_(component), lengths_(lengths) {}

  Expr formula() {
    const Expr q = ir::var("q"), k = ir::var("k");
    rows(q);
    const Expr low = bound(q, c_.first, c_.first_slope);
    const int64_t last = c_.first + (c_.count - 1) * c_.stride, last_slope = c_.first_slope + c_.count_slope * c_.stride;
    if (!always(c_.first, c_.first_slope, 0, true)) add(all_, binary(Op::Ge, k, low));
    if (!always(last, last_slope, lengths_.sk - 1, false)) add(all_, binary(Op::Le, k, bound(q, last, last_slope)));
    if (c_.stride > 1) add(all_, binary(Op::Eq, binary(Op::Mod, binary(Op::Sub, k, low), integer(c_.stride)), integer(0)));
    return all_ ? ir::simplify(all_) : ir::bool_const(true);
  }

 private:
  /// The rows of the component; of repeats, the rows of each period.
  void rows(const Expr& q) {
    if (c_.repeats > 1) add(all_, in_period(q));
    const int64_t end = c_.q0 + (c_.repeats - 1) * c_.period + c_.height;
    if (c_.q0 > 0) add(all_, binary(Op::Ge, q, integer(c_.q0)));
    if (end < lengths_.sq) add(all_, binary(Op::Lt, q, integer(end)));
  }
  Expr in_period(const Expr& q) const {
    if (c_.height >= c_.period) return ir::bool_const(true);
    return binary(Op::Lt, binary(Op::Mod, line(q, 1, -c_.q0), integer(c_.period)), integer(c_.height));
  }

  /// first + slope * (q - q0), and the shift of the repeat that q is in.
  Expr bound(const Expr& q, int64_t first, int64_t slope) const {
    if (c_.repeats == 1) return line(q, slope, first - slope * c_.q0);
    const Expr since = line(q, 1, -c_.q0), period = integer(c_.period);
    const Expr moved = line(binary(Op::Div, since, period), c_.shift, first);
    return slope == 0 ? moved : binary(Op::Add, moved, line(binary(Op::Mod, since, period), slope, 0));
  }

  /// The bound is at the edge of the matrix (or beyond it) in every row.
  bool always(int64_t first, int64_t slope, int64_t edge, bool low) const {
    const int64_t a = first, b = first + (c_.height - 1) * slope, turns = (c_.repeats - 1) * c_.shift;
    const auto beyond = [&](int64_t value) { return low ? value <= edge : value >= edge; };
    return c_.stride == 1 && beyond(a) && beyond(b) && beyond(a + turns) && beyond(b + turns);
  }

  MatrixComponent c_;
  Lengths lengths_;
  Expr all_;
};

}  // namespace

ir::Expr components_formula(const std::vector<MatrixComponent>& components, Lengths lengths) {
  Expr any;
  for (const MatrixComponent& component : components) {
    const Expr term = Term(component, lengths).formula();
    any = any ? binary(Op::Or, any, term) : term;
  }
  return any ? any : ir::bool_const(false);
}

}  // namespace heddle::analysis
