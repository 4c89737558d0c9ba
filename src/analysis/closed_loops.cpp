#include "src/analysis/closed_loops.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "src/analysis/affine_expr.h"
#include "src/analysis/batch_program.h"
#include "src/analysis/linear_expr.h"
#include "src/analysis/quotient_bounds.h"
#include "src/analysis/periodic_expr.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;
using Ints = std::map<std::string, int64_t>;

constexpr int64_t kLongestPeriod = 4096;
constexpr size_t kMostRuns = 64;  ///< Of a period; beyond it a row evaluates the period instead.

/// Whether a bound or the offset of `loop` depends on the variable.
bool depends(const ir::Loop& loop, const std::string& variable) {
  return any_mentions(loop.lower, variable) || any_mentions(loop.upper, variable) ||
         (loop.offset && ir::mentions(loop.offset, variable));
}

/// A bound of the inner of two loops that bounds the value alone: inner <= rest - (c / d) * outer where the value is
/// c * outer + d * inner + shift, d > 0. Then the value is <= d * rest + shift.
class ValueBounds {
 public:
  ValueBounds(const Expr& value, const std::string& outer, const std::string& inner) : outer_(outer) {
    const auto of_outer = linear(value, outer);
    const auto of_inner = of_outer ? linear(of_outer->rest, inner) : std::nullopt;
    if (!of_inner || of_inner->coefficient <= 0) return;
    c_ = of_outer->coefficient, d_ = of_inner->coefficient, shift_ = of_inner->rest;
  }

  /// What the bound says of the value; null when it says anything else.
  Expr limit(const Expr& bound) const {
    const auto split = d_ > 0 && ir::mentions(bound, outer_) ? linear(bound, outer_) : std::nullopt;
    if (!split || split->coefficient * d_ != -c_) return nullptr;
    return ir::simplify(ir::make(Op::Add, {ir::make(Op::Mul, {ir::int_const(d_), split->rest}), shift_}));
  }

  /// Takes those bounds out of the inner loop where others are left on the same side; returns what they say.
  std::vector<Expr> take(std::vector<Expr>& bounds) const {
    std::vector<Expr> kept, limits;
    for (const Expr& bound : bounds) {
      if (const Expr found = limit(bound)) limits.push_back(found);
      else kept.push_back(bound);
    }
    if (kept.empty()) return {};
    bounds = std::move(kept);
    return limits;
  }

 private:
  std::string outer_;
  int64_t c_ = 0, d_ = 0;
  Expr shift_;
};

ClosedPiece with_value_bounds(const ir::NestPiece& piece) {
  ClosedPiece result{piece, {}, {}};
  if (piece.loops.size() < 2) return result;
  ir::Loop& inner = result.piece.loops.back();
  const ValueBounds bounds(piece.value, piece.loops[piece.loops.size() - 2].variable, inner.variable);
  result.lower = bounds.take(inner.lower);
  result.upper = bounds.take(inner.upper);
  const bool helps = expanded_loops(result.piece) < expanded_loops(piece);
  return helps ? result : ClosedPiece{piece, {}, {}};
}

/// Whether the inner conditions hold at values 0 .. period - 1 of the only loop.
std::vector<bool> pattern_of(const ir::NestPiece& piece, int64_t period, const Ints& ints) {
  BatchProgram program;
  const int variable = program.declare(piece.loops[0].variable, BatchProgram::Slot::Lane);
  program.declare_fixed(ints);
  int good = program.constant(1);
  for (const Expr& condition : piece.inner) good = program.add(Op::And, good, program.add(condition));
  program.run_fixed();
  std::vector<bool> pattern;
  for (int64_t at = 0; at < period; at += BatchProgram::kLanes) {
    const int n = static_cast<int>(std::min<int64_t>(BatchProgram::kLanes, period - at));
    for (int i = 0; i < n; ++i) program.lanes(variable)[i] = at + i;
    program.run_lanes(n);
    for (int i = 0; i < n; ++i) pattern.push_back(program.value(good, i) != 0);
  }
  return pattern;
}

/// The values of the only loop whose residue lies in the run, as period * major + minor.
ClosedPiece of_run(const ir::NestPiece& piece, int64_t period, int64_t begin, int64_t end) {
  const ir::Loop& loop = piece.loops[0];
  ir::Loop major{loop.variable + "_major", {}, {}, 1, nullptr};
  const ir::Loop minor{loop.variable + "_minor", {ir::int_const(begin)}, {ir::int_const(end - 1)}, 1, nullptr};
  for (const Expr& low : loop.lower) major.lower.push_back(floor_divide(add(low, ir::int_const(period - end)), period));
  for (const Expr& high : loop.upper) major.upper.push_back(floor_divide(subtract(high, ir::int_const(begin)), period));
  const Expr value = add(multiply(ir::var(major.variable), period), ir::var(minor.variable));
  return {{piece.guards, {major, minor}, {}, value}, loop.lower, loop.upper};
}

/// The runs of the only loop of a piece whose inner conditions repeat; nullopt for other pieces.
std::optional<std::vector<ClosedPiece>> split_by_runs(const ir::NestPiece& piece, const std::string& row, const Ints& ints) {
  if (piece.loops.size() != 1 || piece.loops[0].stride != 1 || piece.inner.empty()) return std::nullopt;
  if (!ir::equal(piece.value, ir::var(piece.loops[0].variable)) || any_mentions(piece.inner, row)) return std::nullopt;
  const int64_t period = last_loop_period(piece);
  if (period == 0) return std::nullopt;
  std::vector<ClosedPiece> pieces;
  each_cyclic_run(pattern_of(piece, period, ints), [&](int64_t begin, int64_t end) {
    pieces.push_back(of_run(piece, period, begin, end));
  });
  if (pieces.size() > kMostRuns) return std::nullopt;
  return pieces;
}

}  // namespace

std::vector<ClosedPiece> close_loops(const ir::NestPiece& given, const std::string& row, const Ints& ints) {
  const ir::NestPiece piece = with_quotient_bounds(given);
  if (auto pieces = split_by_runs(piece, row, ints)) return *std::move(pieces);
  return {with_value_bounds(piece)};
}

size_t expanded_loops(const ir::NestPiece& piece) {
  for (size_t expanded = 0; expanded < piece.loops.size(); ++expanded) {
    bool closed = true;
    Expr value = piece.value;
    for (size_t i = expanded; i < piece.loops.size() && closed; ++i) {
      const std::string& variable = piece.loops[i].variable;
      for (size_t j = i + 1; j < piece.loops.size(); ++j) closed = closed && !depends(piece.loops[j], variable);
      const auto split = linear(value, variable);
      closed = closed && split && !any_mentions(piece.inner, variable);
      if (split) value = split->rest;
    }
    if (closed) return expanded;
  }
  return piece.loops.size();
}

int64_t last_loop_period(const ir::NestPiece& piece) {
  const ir::Loop& last = piece.loops.back();
  if (!linear(piece.value, last.variable)) return 0;
  int64_t all = 1;
  for (const Expr& condition : piece.inner) {
    const auto own = period(condition, last.variable, kLongestPeriod);
    if (!own || (all = std::lcm(all, *own)) > kLongestPeriod) return 0;
  }
  return all / std::gcd(all, last.stride);
}

}  // namespace heddle::analysis
