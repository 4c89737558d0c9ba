#include "src/analysis/matrix_sets.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "src/ir/evaluate.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

constexpr int kMostParts = 12;

Expr compare(Op op, const Expr& x, int64_t value) { return ir::make(op, {x, ir::int_const(value)}); }
Expr both(const Expr& a, const Expr& b) { return !a ? b : !b ? a : ir::make(Op::And, {a, b}); }

struct Span {
  int64_t from, to;  ///< Indices, inclusive.
};

std::vector<Span> runs(const std::vector<char>& flags) {
  std::vector<Span> found;
  for (int64_t i = 0; i < static_cast<int64_t>(flags.size()); ++i) {
    if (!flags[static_cast<size_t>(i)]) continue;
    if (!found.empty() && found.back().to == i - 1) {
      found.back().to = i;
    } else {
      found.push_back({i, i});
    }
  }
  return found;
}

/// Conditions for one set.
class Describer {
 public:
  Describer(const LineSet& line, bool distance) : low_(line.low), may_(line.may), distance_(distance) {}

  Expr describe(const std::vector<char>& must, int parts) const {
    const std::vector<Span> spans = runs(must);
    if (spans.empty()) return ir::bool_const(false);
    const Span hull{spans.front().from, spans.back().to};
    if (const Expr one = interval(hull)) return one;
    if (const Expr classes = periodic(spans, {0, size() - 1})) return classes;
    if (const Expr classes = periodic(spans, hull)) return both(bounds(hull), classes);
    return parts > 1 ? together(must, spans, parts) : nullptr;
  }

 private:
  int64_t size() const { return static_cast<int64_t>(may_.size()); }
  bool may(int64_t i) const { return may_[static_cast<size_t>(i)] != 0; }
  bool may_all(Span span) const {
    return std::all_of(may_.begin() + span.from, may_.begin() + span.to + 1, [](char flag) { return flag != 0; });
  }

  /// The interval's bounds; one beyond which only the end of the line, or what may be in the set, lies is left out.
  Expr interval(Span span) const {
    if (!may_all(span)) return nullptr;
    const bool open_low = may_all({0, span.from}), open_high = may_all({span.to, size() - 1});
    if (open_low && open_high) return ir::bool_const(true);
    if (span.from == span.to) return bounds(span);
    if (open_low) return compare(Op::Le, x_, low_ + span.to);
    if (open_high) return compare(Op::Ge, x_, low_ + span.from);
    return bounds(span);
  }

  Expr bounds(Span span) const {
    const int64_t from = low_ + span.from, to = low_ + span.to;
    if (from == to) return compare(Op::Eq, x_, from);
    if (distance_ && from == -to) return compare(Op::Le, ir::make(Op::Abs, {x_}), to);
    const Expr least = span.from == 0 ? nullptr : compare(Op::Ge, x_, from);
    const Expr most = span.to == size() - 1 ? nullptr : compare(Op::Le, x_, to);
    const Expr made = both(least, most);
    return made ? made : ir::bool_const(true);
  }

  static std::set<int64_t> periods(const std::vector<Span>& spans) {
    std::set<int64_t> found;
    int64_t starts = 0, ends = 0, least = 0;
    for (size_t i = 1; i < spans.size(); ++i) {
      const int64_t step = spans[i].from - spans[i - 1].from;
      if (i > 1 || spans.size() == 2) starts = std::gcd(starts, step), least = least == 0 ? step : std::min(least, step);
      if (i + 1 < spans.size() || spans.size() == 2) ends = std::gcd(ends, spans[i].to - spans[i - 1].to);
    }
    for (const int64_t period : {starts, ends, least}) {
      if (period > 1) found.insert(period);
    }
    return found;
  }

  Expr periodic(const std::vector<Span>& spans, Span within) const {
    for (const int64_t period : periods(spans)) {
      if (const Expr made = residues(spans, within, period)) return made;
    }
    return nullptr;
  }

  /// An arc of residues that holds every value of the spans, and within `within` nothing that may not be in the set.
  Expr residues(const std::vector<Span>& spans, Span within, int64_t period) const {
    std::vector<char> needed(static_cast<size_t>(period), 0), allowed(static_cast<size_t>(period), 1);
    const auto residue = [&](int64_t i) { return static_cast<size_t>(ir::floor_mod(low_ + i, period)); };
    for (const Span& span : spans) {
      for (int64_t i = span.from; i <= std::min(span.to, span.from + period - 1); ++i) needed[residue(i)] = 1;
    }
    for (int64_t i = within.from; i <= within.to; ++i) {
      if (!may(i)) allowed[residue(i)] = 0;
    }
    const auto arc = smallest_arc(needed);
    if (!arc) return nullptr;
    for (int64_t r = arc->from; r <= arc->to; ++r) {
      if (!allowed[static_cast<size_t>(r % period)]) return nullptr;
    }
    return arc_condition(*arc, period);
  }

  /// The residues but the longest circular gap; `to` may pass the period. Nothing when every residue is needed.
  static std::optional<Span> smallest_arc(const std::vector<char>& needed) {
    const int64_t period = static_cast<int64_t>(needed.size());
    Span gap{0, -1};
    int64_t from = 0;
    for (int64_t i = 0; i < 2 * period; ++i) {
      if (needed[static_cast<size_t>(i % period)]) from = i + 1;
      if (i - from > gap.to - gap.from && i - from < period) gap = {from, i};
    }
    if (gap.to < gap.from) return std::nullopt;
    const int64_t first = (gap.to + 1) % period, count = period - (gap.to - gap.from + 1);
    return Span{first, first + count - 1};
  }

  Expr arc_condition(Span arc, int64_t period) const {
    const Expr p = ir::int_const(period), residue = ir::make(Op::Mod, {x_, p});
    if (arc.from == arc.to) return compare(Op::Eq, residue, arc.from);
    if (arc.to >= period) {
      const Expr turned = ir::make(Op::Mod, {ir::make(Op::Add, {x_, ir::int_const(period - arc.from)}), p});
      return compare(Op::Le, turned, arc.to - arc.from);
    }
    const Expr least = arc.from > 0 ? compare(Op::Ge, residue, arc.from) : nullptr;
    const Expr most = arc.to < period - 1 ? compare(Op::Le, residue, arc.to) : nullptr;
    return both(least, most);
  }

  /// The longest run as an interval and the rest by itself; then the interval again, without what the rest holds.
  Expr together(const std::vector<char>& must, const std::vector<Span>& spans, int parts) const {
    const auto longer = [](const Span& a, const Span& b) { return a.to - a.from < b.to - b.from; };
    const Span longest = *std::max_element(spans.begin(), spans.end(), longer);
    std::vector<char> rest = must;
    std::fill(rest.begin() + longest.from, rest.begin() + longest.to + 1, 0);
    const Expr others = describe(rest, parts - 1);
    if (!others) return nullptr;
    const Span left = without(others, longest);
    const Expr own = left.from <= left.to ? interval(left) : nullptr;
    return own ? ir::make(Op::Or, {own, others}) : others;
  }

  Span without(const Expr& others, Span span) const {
    const std::vector<char> held = members(others, {low_, may_, may_});
    while (span.from <= span.to && held[static_cast<size_t>(span.from)]) ++span.from;
    while (span.from <= span.to && held[static_cast<size_t>(span.to)]) --span.to;
    return span;
  }

  int64_t low_;
  const std::vector<char>& may_;
  Expr x_ = ir::var("x");
  bool distance_;
};

}  // namespace

Expr describe(const LineSet& set, bool distance) { return Describer(set, distance).describe(set.must, kMostParts); }

std::vector<char> members(const Expr& condition, const LineSet& set) {
  const ir::CompiledExpr program(condition, {"x"});
  std::vector<char> held(set.must.size());
  for (int64_t i = 0; i < set.size(); ++i) {
    const int64_t x = set.low + i;
    held[static_cast<size_t>(i)] = program.run_int(&x) != 0;
  }
  return held;
}

}  // namespace heddle::analysis
