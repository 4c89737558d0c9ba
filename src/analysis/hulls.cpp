#include "src/analysis/hulls.h"

#include <isl/aff.h>
#include <isl/set.h>
#include <isl/space.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "src/analysis/affine_expr.h"
#include "src/ir/attention_problem.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

Expr at_most(const Expr& low, const Expr& high) { return ir::make(Op::Le, {low, high}); }

void append(std::vector<Expr>& to, const std::vector<Expr>& from) { to.insert(to.end(), from.begin(), from.end()); }

/// A piece of one loop that visits all its values.
HullPiece closed_hull(const ir::NestPiece& piece) {
  const ir::Loop& loop = piece.loops[0];
  HullPiece hull{piece.guards, fold(Op::Max, loop.lower), fold(Op::Min, loop.upper)};
  std::vector<Expr> starts = loop.lower;
  if (loop.stride > 1) {
    const Expr stride = ir::int_const(loop.stride);
    hull.first = ir::simplify(add(hull.first, ir::make(Op::Mod, {subtract(loop.offset, hull.first), stride})));
    hull.last = ir::simplify(subtract(hull.last, ir::make(Op::Mod, {subtract(hull.last, loop.offset), stride})));
    starts = {hull.first};
  }
  for (const Expr& start : starts) {
    for (const Expr& end : loop.upper) hull.guards.push_back(at_most(start, end));
  }
  return hull;
}

struct Extreme {
  isl::set domain;
  isl::aff value;
};

/// The pieces of an extreme value as a function of the parameters.
std::vector<Extreme> extremes(isl_pw_aff* function) {
  const isl::pw_aff value = isl::manage(checked(function));
  std::vector<Extreme> found;
  const auto collect = [](isl_set* domain, isl_aff* aff, void* user) {
    static_cast<std::vector<Extreme>*>(user)->push_back({isl::manage(domain), isl::manage(aff)});
    return isl_stat_ok;
  };
  if (isl_pw_aff_foreach_piece(value.get(), collect, &found) != isl_stat_ok) throw OverBudget("isl returned nothing");
  return found;
}

/// Pieces of a basic set whose inner conditions skip values at the ends of the loop.
class IslHulls {
 public:
  IslHulls(const Plane& plane, const LineNames& names) : plane_(plane), names_(names) {
    for (size_t i = 0; i < plane.parameters.size(); ++i) space_.parameters.push_back(plane.parameters.expr(i));
    space_.parameters.push_back(names.outer);
    if (!ir::as_int_constant(names.last)) space_.parameters.push_back(names.last);
  }

  void read(const isl::basic_set& piece, std::vector<HullPiece>& out) const {
    const isl::set line = bounded(isl::set(outer_as_parameter(piece, 0)));
    const isl::set known = isl::manage(checked(isl_set_from_params(outer_context(plane_.context, line, names_.outer_end).release())));
    const std::vector<Extreme> firsts = extremes(isl_set_dim_min(detached(line).release(), 0));
    const std::vector<Extreme> lasts = extremes(isl_set_dim_max(detached(line).release(), 0));
    for (const Extreme& first : firsts) {
      for (const Extreme& last : lasts) add_pieces(first, last, known, out);
    }
  }

 private:
  isl::set bounded(const isl::set& line) const {
    const auto last = ir::as_int_constant(names_.last);
    const std::string text = last ? "{ [v] : v <= " + std::to_string(*last) + " }" : "[last] -> { [v] : v <= last }";
    const isl::set bound(line.ctx(), text);  // Aligned first, or isl puts its parameter before those of the line.
    return line.intersect(isl::manage(checked(isl_set_align_params(bound.copy(), isl_set_get_space(line.get())))));
  }

  void add_pieces(const Extreme& first, const Extreme& last, const isl::set& known, std::vector<HullPiece>& out) const {
    const isl::set both = first.domain.intersect(last.domain);
    const isl::set domain = isl::manage(checked(isl_set_from_params(both.copy())));
    for (const isl::basic_set& piece : disjoint_pieces(domain)) {
      if (isl::set(piece).intersect(known).is_empty()) continue;
      out.push_back({read_conditions(piece, isl::manage(checked(isl_set_params(known.copy()))), space_), value(first), value(last)});
    }
  }

  Expr value(const Extreme& extreme) const {
    const ScaledAffine scaled = scaled_affine(extreme.value, space_);
    return floor_divide(scaled.expr, scaled.denominator);
  }

  const Plane& plane_;
  const LineNames& names_;
  SpaceNames space_;
};

std::vector<HullPiece> read_hulls(const Plane& plane, const LineNames& names) {
  const IslHulls by_isl(plane, names);
  std::vector<HullPiece> hulls;
  for (const isl::basic_set& piece : disjoint_pieces(plane.allowed)) {
    const NestNames loop{names.outer, "v", {names.last}, names.outer_end};
    for (const ir::NestPiece& read : read_nest({piece}, 0, plane.context, plane.parameters, loop).pieces) {
      if (read.inner.empty()) {
        hulls.push_back(closed_hull(read));
      } else {
        by_isl.read(piece, hulls);
      }
    }
  }
  return hulls;
}

/// Positions period * high + low.
HullPiece product(const HullPiece& high, const HullPiece& low, int64_t period) {
  HullPiece hull = high;
  append(hull.guards, low.guards);
  hull.first = add(multiply(high.first, period), low.first);
  hull.last = add(multiply(high.last, period), low.last);
  return hull;
}

/// A sum as factors of its terms, so that equal terms cancel; modulo 2^64, as Ints are.
class Terms {
 public:
  void add_scaled(const Expr& e, uint64_t factor) {
    if (const auto constant = ir::as_int_constant(e)) {
      constant_ += factor * static_cast<uint64_t>(*constant);
    } else if (e->op == Op::Add || e->op == Op::Sub) {
      add_scaled(e->operands[0], factor);
      add_scaled(e->operands[1], e->op == Op::Add ? factor : 0 - factor);
    } else if (e->op == Op::Neg) {
      add_scaled(e->operands[0], 0 - factor);
    } else if (const auto scale = e->op == Op::Mul ? ir::as_int_constant(e->operands[0]) : std::nullopt) {
      add_scaled(e->operands[1], factor * static_cast<uint64_t>(*scale));
    } else {
      terms_.try_emplace(ir::print(e), e, 0).first->second.second += factor;
    }
  }

  Expr sum() const {
    Expr result = ir::int_const(static_cast<int64_t>(constant_));
    for (const auto& [text, term] : terms_) {
      const Expr factor = ir::int_const(static_cast<int64_t>(term.second));
      if (term.second != 0) result = ir::make(Op::Add, {result, ir::make(Op::Mul, {factor, term.first})});
    }
    return result;
  }

 private:
  std::map<std::string, std::pair<Expr, uint64_t>> terms_;
  uint64_t constant_ = 0;
};

using Ranges = std::map<std::string, ir::Interval>;

Ranges name_ranges(std::optional<Lengths> fixed) {
  const ir::Interval position{0, ir::kMaxPositions}, size{1, ir::kMaxPositions};
  Ranges ranges = {{"q", position}, {"k", position}, {"b", position}, {"h", position}};
  for (const char* name : {"B", "H", "Hkv", "Sq", "Sk"}) ranges.emplace(name, size);
  if (fixed) ranges["Sq"] = {fixed->sq, fixed->sq}, ranges["Sk"] = {fixed->sk, fixed->sk};
  return ranges;
}

/// What a comparison is wherever names are in their ranges, if that is known.
std::optional<bool> decided(const Expr& guard, const Ranges& ranges) {
  if (guard->op == Op::BoolConst) return guard->integer != 0;
  if (guard->op != Op::Le && guard->op != Op::Ge) return std::nullopt;
  Terms difference;
  difference.add_scaled(guard->operands[guard->op == Op::Le ? 1 : 0], 1);
  difference.add_scaled(guard->operands[guard->op == Op::Le ? 0 : 1], ~uint64_t{0});
  const ir::Interval range = ir::range(difference.sum(), ranges);
  if (range.low >= 0) return true;
  return range.high < 0 ? std::optional(false) : std::nullopt;
}

/// The guards that are not decided, or nullopt when one never holds.
std::optional<std::vector<Expr>> open_guards(const std::vector<Expr>& guards, const Ranges& ranges) {
  std::vector<Expr> open;
  for (const Expr& given : guards) {
    const Expr guard = ir::simplify(given);
    const std::optional<bool> known = decided(guard, ranges);
    if (known == false) return std::nullopt;
    const auto same = [&](const Expr& other) { return ir::equal(other, guard); };
    if (!known && std::none_of(open.begin(), open.end(), same)) open.push_back(guard);
  }
  return open;
}

/// No piece holds.
Expr none_holds(const std::vector<HullPiece>& pieces) {
  Expr result = ir::bool_const(true);
  for (const HullPiece& piece : pieces) {
    if (piece.guards.empty()) return ir::bool_const(false);
    result = ir::make(Op::And, {result, ir::make(Op::Not, {fold(Op::And, piece.guards)})});
  }
  return ir::simplify(result);
}

}  // namespace

Expr exchanged(const Expr& mask) {
  return ir::substitute(mask, [](const ir::ExprNode& leaf) -> Expr {
    if (leaf.op != Op::Var) return nullptr;
    if (leaf.name == "q") return ir::var("k");
    return leaf.name == "k" ? ir::var("q") : nullptr;
  });
}

std::vector<HullPiece> line_hulls(const MaskSource& source, const LineNames& names, const StageLog& log) {
  IslContext context;
  std::vector<HullPiece> hulls;
  Plane plane;
  isl_stage(context, log, "build", [&] { plane = whole_plane(context, source); });
  isl_stage(context, log, "ends", [&] { hulls = read_hulls(plane, names); });
  return hulls;
}

/// The lines of the high digit before the last one are whole; of the last one only low digits up to the end are there.
std::vector<HullPiece> digit_hulls(const DigitMask& mask, const Expr& outer, const Expr& length, const StageLog& log) {
  const int64_t period = mask.period;
  const Expr last = subtract(length, ir::int_const(1)), width = ir::int_const(period);
  const Expr last_high = floor_divide(last, period), last_low = ir::simplify(ir::make(Op::Mod, {last, width}));
  const Expr high = floor_divide(outer, period), low = ir::make(Op::Mod, {outer, width});
  const auto whole = line_hulls(mask.low, {low, ir::int_const(period - 1), period}, log);
  const auto cut = line_hulls(mask.low, {low, last_low, period}, log);
  std::vector<HullPiece> hulls;
  for (const HullPiece& line : line_hulls(mask.high, {high, subtract(last_high, ir::int_const(1)), {}}, log)) {
    for (const HullPiece& inside : whole) hulls.push_back(product(line, inside, period));
  }
  const Expr allowed = ir::substitute(exchanged(mask.high.mask), [&](const ir::ExprNode& leaf) -> Expr {
    if (leaf.op != Op::Var) return nullptr;
    if (const auto alias = mask.high.aliases.find(leaf.name); alias != mask.high.aliases.end()) return alias->second;
    if (leaf.name == "k") return high;
    return leaf.name == "q" ? last_high : nullptr;
  });
  const HullPiece line{{at_most(ir::int_const(1), length), allowed}, last_high, last_high};
  for (const HullPiece& inside : cut) hulls.push_back(product(line, inside, period));
  return hulls;
}

LineHulls simplified(Proof proof, std::vector<HullPiece> pieces, std::optional<Lengths> fixed) {
  const Ranges ranges = name_ranges(fixed);
  LineHulls hulls{proof, {}, nullptr};
  for (HullPiece& piece : pieces) {
    auto guards = open_guards(piece.guards, ranges);
    if (!guards) continue;
    hulls.pieces.push_back({std::move(*guards), ir::simplify(piece.first), ir::simplify(piece.last)});
  }
  hulls.empty = none_holds(hulls.pieces);
  return hulls;
}

}  // namespace heddle::analysis
