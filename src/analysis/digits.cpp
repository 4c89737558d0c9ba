#include "src/analysis/digits.h"
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

/// Pieces of two loops: one of `high` outside one of `low`.
ir::LoopNest product(const ir::LoopNest& high, const ir::LoopNest& low, const Expr& value) {
  ir::LoopNest nest;
  for (const ir::NestPiece& a : high.pieces) {
    for (const ir::NestPiece& b : low.pieces) {
      ir::NestPiece piece = a;
      piece.guards.insert(piece.guards.end(), b.guards.begin(), b.guards.end());
      piece.loops.insert(piece.loops.end(), b.loops.begin(), b.loops.end());
      piece.inner.insert(piece.inner.end(), b.inner.begin(), b.inner.end());
      piece.value = value;
      nest.pieces.push_back(std::move(piece));
    }
  }
  return nest;
}

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

/// Tile numbers first + n, n in [0, tiles_per_line), of line `high`.
class TileBounds {
 public:
  TileBounds(const AxisTiling& axis, const NestNames& high, const NestNames& low)
      : per_line_(axis.tiles_per_line), line_(multiply(ir::var(high.visited), per_line_)), value_(add(line_, ir::var(low.visited))) {}

  const Expr& value() const { return value_; }
  /// Tile numbers below `end`.
  void below(ir::LoopNest& nest, const Expr& end) const {
    const Expr last = subtract(end, ir::int_const(1));
    for (ir::NestPiece& piece : nest.pieces) {
      piece.loops[0].upper.push_back(floor_divide(last, per_line_));
      piece.loops[1].upper.push_back(subtract(last, line_));
    }
  }
  /// Only the tile number `tile`, where it is below `end`.
  void only(ir::LoopNest& nest, const Expr& tile, const Expr& end) const {
    for (ir::NestPiece& piece : nest.pieces) {
      piece.guards.push_back(ir::make(Op::Lt, {tile, end}));
      for (auto bounds : {&ir::Loop::lower, &ir::Loop::upper}) {
        (piece.loops[0].*bounds).push_back(floor_divide(tile, per_line_));
        (piece.loops[1].*bounds).push_back(subtract(tile, line_));
      }
    }
  }

 private:
  int64_t per_line_;
  Expr line_, value_;
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

ir::LoopNest digit_rows(const DigitMask& mask, const Expr& length, const StageLog& log) {
  const Expr last = subtract(length, ir::int_const(1)), period = ir::int_const(mask.period), q = ir::var("q");
  const Expr line = multiply(ir::var("ky"), mask.period);
  const NestNames high{ir::make(Op::Div, {q, period}), "ky", {floor_divide(last, mask.period)}};
  const NestNames low{ir::make(Op::Mod, {q, period}), "kx", {subtract(last, line)}};
  return product(row_nest(mask.high, high, log), row_nest(mask.low, low, log), add(line, ir::var("kx")));
}

bool tiles_follow_digits(const DigitMask& mask, TileShape shape) {
  const auto follows = [&](int64_t tile) { return mask.period % tile == 0 || tile % mask.period == 0; };
  return follows(shape.rows) && follows(shape.cols);
}

TileNests digit_tiles(const DigitMask& mask, const TileQuery& query, const StageLog& log) {
  const AxisTiling rows(query.shape.rows, mask.period), cols(query.shape.cols, mask.period);
  const AxisTiling& block = query.transposed ? cols : rows;
  TileQuery high{{rows.high_tile, cols.high_tile}, query.transposed, "", "", std::nullopt, {}};
  TileQuery low{{rows.low_tile, cols.low_tile}, query.transposed, "", "", std::nullopt, {}};
  high.names = {block.high(query.names.outer), query.transposed ? "qy" : "ky", {}};
  low.names = {block.low(query.names.outer), query.transposed ? "qx" : "kx", {}};
  const TileNests a = tile_nests(mask.high, high, log), b = tile_nests(mask.low, low, log);

  const TileBounds bounds(query.transposed ? rows : cols, high.names, low.names);
  const Expr count = ir::var(query.count), whole = ir::var(query.whole);
  TileNests nests;
  nests.full = product(a.full, b.full, bounds.value());
  ir::LoopNest cut = nests.full;
  nests.partial = product(a.partial, b.partial, bounds.value());
  append(nests.partial, product(a.partial, b.full, bounds.value()));
  append(nests.partial, product(a.full, b.partial, bounds.value()));
  bounds.below(nests.full, whole);
  bounds.below(nests.partial, count);
  bounds.only(cut, whole, count);
  append(nests.partial, std::move(cut));
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
