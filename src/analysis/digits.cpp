#include "src/analysis/digits.h"
#include <algorithm>
#include <numeric>
#include <set>
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

constexpr const char* kHighQ = "q high";
constexpr const char* kHighK = "k high";
constexpr const char* kLowQ = "q low";
constexpr const char* kLowK = "k low";

bool is_position(const Expr& e) { return e->op == Op::Var && (e->name == "q" || e->name == "k"); }

/// The only divisor of positions, or 0.
int64_t only_period(const Expr& mask) {
  std::set<int64_t> periods;
  ir::for_each_node(mask, [&](const Expr& e) {
    if ((e->op != Op::Div && e->op != Op::Mod) || !is_position(e->operands[0])) return;
    periods.insert(ir::as_int_constant(e->operands[1]).value_or(0));
  });
  return periods.size() == 1 && *periods.begin() > 1 ? *periods.begin() : 0;
}

void conjuncts(const Expr& e, bool negated, std::vector<Expr>& out) {
  if (e->op == Op::Not) return conjuncts(e->operands[0], !negated, out);
  if (e->op != (negated ? Op::Or : Op::And)) return out.push_back(negated ? ir::make(Op::Not, {e}) : e);
  for (const Expr& operand : e->operands) conjuncts(operand, negated, out);
}

std::string lines_of(const std::string& length, int64_t period) { return length + " / " + std::to_string(period); }

/// Digits become variables; so do whole lines of a length.
Expr name_digits(const Expr& mask, int64_t period, std::map<std::string, Expr>& aliases) {
  return ir::rebuild(mask, [&](const Expr& e) {
    if ((e->op != Op::Div && e->op != Op::Mod) || e->operands[0]->op != Op::Var) return e;
    const std::string& name = e->operands[0]->name;
    if (ir::as_int_constant(e->operands[1]) != period) return e;
    if (name == "q") return ir::var(e->op == Op::Div ? kHighQ : kLowQ);
    if (name == "k") return ir::var(e->op == Op::Div ? kHighK : kLowK);
    if (e->op == Op::Mod || (name != "Sq" && name != "Sk")) return e;
    aliases.emplace(lines_of(name, period), e);
    return ir::var(lines_of(name, period));
  });
}

Expr rename(const Expr& e, const char* q, const char* k) {
  return ir::substitute(e, [&](const ir::ExprNode& leaf) -> Expr {
    if (leaf.op != Op::Var) return nullptr;
    if (leaf.name == q) return ir::var("q");
    return leaf.name == k ? ir::var("k") : nullptr;
  });
}

Expr conjunction(const Expr& a, const Expr& b) { return a ? ir::make(Op::And, {a, b}) : b; }

std::optional<int64_t> lines(std::optional<int64_t> length, int64_t period) {
  if (!length) return std::nullopt;
  return (*length + period - 1) / period;
}

void append(std::vector<Expr>& to, const std::vector<Expr>& from) { to.insert(to.end(), from.begin(), from.end()); }

/// `scale` * bound + shift for each bound.
std::vector<Expr> moved(const std::vector<Expr>& bounds, int64_t scale, const Expr& shift) {
  std::vector<Expr> result;
  for (const Expr& bound : bounds) result.push_back(add(multiply(bound, scale), shift));
  return result;
}

/// The one value that a loop has, if its bounds show that, and what else must hold for it.
struct Single {
  Expr value;
  std::vector<Expr> guards;
};

std::optional<Single> single(const ir::Loop& loop) {
  if (loop.stride != 1) return std::nullopt;
  for (const Expr& value : loop.lower) {
    const auto same = [&](const Expr& bound) { return ir::equal(bound, value); };
    if (std::none_of(loop.upper.begin(), loop.upper.end(), same)) continue;
    Single found{value, {}};
    for (const Expr& low : loop.lower) {
      if (!same(low)) found.guards.push_back(ir::make(Op::Ge, {value, low}));
    }
    for (const Expr& high : loop.upper) {
      if (!same(high)) found.guards.push_back(ir::make(Op::Le, {value, high}));
    }
    return found;
  }
  return std::nullopt;
}

void substitute_in(std::vector<Expr>& conditions, const std::string& variable, const Expr& value) {
  for (Expr& condition : conditions) {
    condition = ir::substitute(condition, [&](const ir::ExprNode& leaf) { return leaf.name == variable ? value : nullptr; });
  }
}

/// The values period * high + low for high of one nest and low, in [0, period), of another.
class DigitProduct {
 public:
  DigitProduct(int64_t period, std::string visited) : period_(period), visited_(std::move(visited)) {}

  ir::LoopNest operator()(const ir::LoopNest& high, const ir::LoopNest& low) const {
    ir::LoopNest nest;
    for (const ir::NestPiece& a : high.pieces) {
      for (const ir::NestPiece& b : low.pieces) nest.pieces.push_back(piece(a, b));
    }
    return nest;
  }

 private:
  /// One loop where one of the two digits has one value only.
  ir::NestPiece piece(ir::NestPiece high, ir::NestPiece low) const {
    ir::NestPiece result;
    append(result.guards, high.guards);
    append(result.guards, low.guards);
    ir::Loop &a = high.loops[0], &b = low.loops[0];
    const Expr value = ir::var(visited_);
    if (const auto line = single(a)) {
      const Expr base = multiply(line->value, period_);
      append(result.guards, line->guards);
      substitute_in(high.inner, a.variable, line->value);
      substitute_in(low.inner, b.variable, subtract(value, base));
      result.loops = {moved_loop(b, 1, base)};
    } else if (const auto column = single(b)) {
      append(result.guards, column->guards);
      substitute_in(high.inner, a.variable, floor_divide(value, period_));
      substitute_in(low.inner, b.variable, column->value);
      result.loops = {moved_loop(a, period_, column->value)};
    } else {
      result.value = add(multiply(ir::var(a.variable), period_), ir::var(b.variable));
      result.loops = {a, b};
    }
    append(result.inner, high.inner);
    append(result.inner, low.inner);
    if (!result.value) result.value = value;
    return result;
  }

  /// The loop over scale * v + shift.
  ir::Loop moved_loop(const ir::Loop& loop, int64_t scale, const Expr& shift) const {
    ir::Loop result{visited_, moved(loop.lower, scale, shift), moved(loop.upper, scale, shift), scale * loop.stride, nullptr};
    if (result.stride > 1) result.offset = loop.offset ? add(multiply(loop.offset, scale), shift) : shift;
    return result;
  }

  int64_t period_;
  std::string visited_;
};

void append(ir::LoopNest& nest, ir::LoopNest more) {
  nest.pieces.insert(nest.pieces.end(), std::make_move_iterator(more.pieces.begin()), std::make_move_iterator(more.pieces.end()));
}

/// One axis of a tile: which digits it covers.
struct AxisTiling {
  int64_t high_tile, low_tile;  ///< Extent in lines and inside a line.
  int64_t tiles_per_line;       ///< 1 where a tile is made of whole lines.

  AxisTiling(int64_t tile, int64_t period)
      : high_tile(std::max<int64_t>(tile / period, 1)), low_tile(std::min(tile, period)), tiles_per_line(period / low_tile) {}
  Expr high(const Expr& block) const { return floor_divide(block, tiles_per_line); }
  Expr low(const Expr& block) const {
    return tiles_per_line == 1 ? ir::int_const(0) : ir::make(Op::Mod, {block, ir::int_const(tiles_per_line)});
  }
};

}  // namespace

std::optional<DigitMask> split_digits(const Expr& mask, const PlaneBounds& bounds) {
  DigitMask result;
  result.period = only_period(mask);
  if (result.period == 0) return std::nullopt;
  std::map<std::string, Expr> aliases;
  std::vector<Expr> parts;
  conjuncts(name_digits(mask, result.period, aliases), false, parts);
  for (const Expr& part : parts) {
    const bool high = ir::mentions(part, kHighQ) || ir::mentions(part, kHighK);
    const bool low = ir::mentions(part, kLowQ) || ir::mentions(part, kLowK);
    if (ir::mentions(part, "q") || ir::mentions(part, "k") || (high && low)) return std::nullopt;
    Expr& factor = low ? result.low.mask : result.high.mask;
    factor = conjunction(factor, low ? rename(part, kLowQ, kLowK) : rename(part, kHighQ, kHighK));
  }
  for (MaskSource* factor : {&result.high, &result.low}) {
    if (!factor->mask) factor->mask = ir::bool_const(true);
    factor->aliases = aliases;
  }
  result.high.bounds = {lines(bounds.q, result.period), lines(bounds.k, result.period)};
  result.low.bounds = {result.period, result.period};
  return result;
}

bool DigitMask::couples() const { return high.mask->op != Op::BoolConst && low.mask->op != Op::BoolConst; }

ir::LoopNest digit_rows(const DigitMask& mask, const Expr& length, const StageLog& log) {
  const Expr period = ir::int_const(mask.period), q = ir::var("q");
  const ir::LoopNest high = row_nest(mask.high, {ir::make(Op::Div, {q, period}), "ky", {}, {}}, log);
  const ir::LoopNest low = row_nest(mask.low, {ir::make(Op::Mod, {q, period}), "kx", {}, mask.period}, log);
  ir::LoopNest rows = DigitProduct(mask.period, "k")(high, low);
  bound_values(rows, subtract(length, ir::int_const(1)));
  return rows;
}

bool tiles_follow_digits(const DigitMask& mask, TileShape shape) {
  const auto follows = [&](int64_t tile) { return mask.period % tile == 0 || tile % mask.period == 0; };
  return follows(shape.rows) && follows(shape.cols);
}

TileNests digit_tiles(const DigitMask& mask, TileShape shape, bool transposed, TileStages& stages, const StageLog& log) {
  const AxisTiling rows(shape.rows, mask.period), cols(shape.cols, mask.period);
  const AxisTiling& block = transposed ? cols : rows;
  const Expr outer = ir::var(transposed ? "kb" : "qb");
  const NestNames high{block.high(outer), transposed ? "qy" : "ky", {}, {}};
  const NestNames low{block.low(outer), transposed ? "qx" : "kx", {}, block.tiles_per_line};
  const TileNests a = stages.nests(mask.high, {rows.high_tile, cols.high_tile}, transposed, high, log);
  const TileNests b = stages.nests(mask.low, {rows.low_tile, cols.low_tile}, transposed, low, log);
  const DigitProduct product((transposed ? rows : cols).tiles_per_line, transposed ? "qb" : "kb");
  TileNests nests{product(a.partial, b.partial), product(a.full, b.full)};
  append(nests.partial, product(a.partial, b.full));
  append(nests.partial, product(a.full, b.partial));
  return nests;
}

MaskFacts::Lattice digit_lattice(const DigitMask& mask, const StageLog& log) {
  const Expr q = ir::var("q"), period = ir::int_const(mask.period);
  const MaskFacts::Lattice low = lattice_of(mask.low, ir::make(Op::Mod, {q, period}), log);
  const MaskFacts::Lattice high = lattice_of(mask.high, ir::make(Op::Div, {q, period}), log);
  const int64_t stride = std::gcd(mask.period * high.stride, low.stride);
  if (stride == 1) return {1, ir::int_const(0)};
  const Expr offset = add(multiply(high.offset, mask.period), low.offset);
  return {stride, ir::simplify(ir::make(Op::Mod, {offset, ir::int_const(stride)}))};
}

}  // namespace heddle::analysis
