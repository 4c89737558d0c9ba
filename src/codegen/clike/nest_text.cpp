#include "src/codegen/clike/nest_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::codegen::clike {
namespace {

using ir::Expr;
using ir::Op;

constexpr ir::Interval kInt32 = {-(int64_t{1} << 31) + 2, (int64_t{1} << 31) - 3};

Expr fold(Op op, const std::vector<Expr>& parts) {
  Expr all = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) all = ir::make(op, {all, parts[i]});
  return all;
}

/// First and last value of a loop, and its step.
struct Bounds {
  std::string first, last;
  int bits = 32;
  ir::Interval range = ir::Interval::full();
};

Bounds bounds(const ir::Loop& loop, const ExprText& names) {
  Expr low = fold(Op::Max, loop.lower);
  const Expr high = fold(Op::Min, loop.upper);
  if (loop.offset) low = ir::make(Op::Add, {low, ir::make(Op::Mod, {ir::make(Op::Sub, {loop.offset, low}), ir::int_const(loop.stride)})});
  Bounds found = {names.uniform(low), names.uniform(high), 32, {names.range(low).low, names.range(high).high}};
  const bool narrow = names.bits(low) == 32 && names.bits(high) == 32 && found.range.low >= kInt32.low && found.range.high <= kInt32.high;
  if (!narrow) found.bits = 64;
  return found;
}

const char* type(int bits) { return bits == 32 ? "i32" : "i64"; }

/// The pieces of one nest as rounds of one pair of loops.
class NestWriter {
 public:
  NestWriter(TextWriter& out, const ir::LoopNest& nest, const ExprText& uniform, const std::string& call, const std::string& last)
      : out_(out), pieces_(nest.pieces), names_(uniform), call_(call), last_(last) {
    for (const ir::NestPiece& piece : pieces_) {
      depth_ = std::max(depth_, piece.loops.size());
      strided_ = strided_ || piece.loops.back().stride != 1;
      plain_ = plain_ && piece.inner.empty() && piece.value->op == Op::Var && piece.value->name == piece.loops.back().variable;
    }
    bits_ = widest();
  }

  void write() {
    if (rounds() == 0) return;
    if (rounds() == 1 && last_.empty() && depth_ == 1) return single(pieces_[0]);
    out_.line("HD_LOOP");
    out_.open(fmt::format("for (i32 piece = 0; piece < {}; ++piece)", rounds()));
    if (depth_ == 1) {
      inner_loop(names_);
    } else {
      two_loops();
    }
    out_.close();
  }

 private:
  size_t rounds() const { return pieces_.size() + (last_.empty() ? 0 : 1); }

  int widest() const {
    int bits = 32;
    for (const ir::NestPiece& piece : pieces_) {
      ExprText names = names_;
      for (const ir::Loop& loop : piece.loops) {
        const Bounds found = bounds(loop, names);
        bits = std::max(bits, found.bits);
        names.define(loop.variable, {loop.variable, false, found.bits, found.range});
      }
    }
    return bits;
  }

  std::string guard(const std::vector<Expr>& conditions) const { return conditions.empty() ? "" : names_.uniform(fold(Op::And, conditions)); }

  void single(const ir::NestPiece& piece) {
    const ir::Loop& loop = piece.loops[0];
    const Bounds found = bounds(loop, names_);
    const std::string condition = guard(piece.guards);
    if (!condition.empty()) out_.open(fmt::format("if ({})", condition));
    out_.line("HD_LOOP");
    const std::string step = loop.stride == 1 ? fmt::format("++{}", loop.variable) : fmt::format("{} += {}", loop.variable, loop.stride);
    out_.open(fmt::format("for ({} {} = {}; {} <= {}; {})", type(bits_), loop.variable, found.first, loop.variable, found.last, step));
    ExprText names = names_;
    names.define(loop.variable, {loop.variable, false, bits_, found.range});
    visit(piece, names);
    out_.close();
    if (!condition.empty()) out_.close();
  }

  void visit(const ir::NestPiece& piece, const ExprText& names) {
    const std::string value = names.uniform(piece.value);
    std::string line = fmt::format(fmt::runtime(call_), names.bits(piece.value) == 32 ? value : "(i32)(" + value + ")");
    if (!piece.inner.empty()) line = fmt::format("if ({}) {}", names.uniform(fold(Op::And, piece.inner)), line);
    out_.line(line);
  }

  /// `if (piece == 0) ... else if (piece == 1) ...`: `write` fills the body for one piece.
  void each_piece(const std::function<void(const ir::NestPiece&)>& write) {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const std::string head = i + 1 == rounds() ? "else" : fmt::format("{}if (piece == {})", i == 0 ? "" : "else ", i);
      if (rounds() > 1) out_.open(head);
      write(pieces_[i]);
      if (rounds() > 1) out_.close();
    }
  }

  void set_bounds(const ir::NestPiece& piece, const ir::Loop& loop, const ExprText& names, const std::string& what, bool guarded) {
    const Bounds found = bounds(loop, names);
    const std::string condition = guarded ? guard(piece.guards) : "";
    if (condition.empty()) {
      out_.line(fmt::format("{0}first = {1}, {0}last = {2};", what, found.first, found.last));
    } else {
      out_.line(fmt::format("if ({3}) {0}first = {1}, {0}last = {2};", what, found.first, found.last, condition));
    }
    if (loop.stride != 1) out_.line(fmt::format("{}step = {};", what, loop.stride));
  }

  /// Bounds of this round's tiles, then the loop over them.
  void inner_loop(const ExprText&) {
    declare("");
    each_piece([&](const ir::NestPiece& piece) { set_bounds(piece, piece.loops[0], names_, "", true); });
    over("", "tile", [&] { visit_any(0); });
  }

  void two_loops() {
    declare("outer_");
    each_piece([&](const ir::NestPiece& piece) {
      if (piece.loops.size() == 2) return set_bounds(piece, piece.loops[0], names_, "outer_", true);
      const std::string condition = guard(piece.guards);
      out_.line(condition.empty() ? "outer_first = outer_last = 0;" : fmt::format("if ({}) outer_first = outer_last = 0;", condition));
    });
    if (!last_.empty()) out_.line(fmt::format("if (piece == {}) outer_first = outer_last = 0;", pieces_.size()));
    over("outer_", "outer", [&] {
      declare("");
      each_piece([&](const ir::NestPiece& piece) {
        ExprText names = names_;
        if (piece.loops.size() == 2) names = inside(piece, 0, "outer");
        set_bounds(piece, piece.loops.back(), names, "", false);
      });
      over("", "tile", [&] { visit_any(1); });
    });
  }

  ExprText inside(const ir::NestPiece& piece, size_t level, const char* variable) const {
    ExprText names = names_;
    const Bounds found = bounds(piece.loops[level], names);
    names.define(piece.loops[level].variable, {variable, false, bits_, found.range});
    return names;
  }

  /// Bounds that hold no value; in the last round those of the last call.
  void declare(const std::string& what) {
    const bool last_round = what.empty() && !last_.empty();
    const std::string first = last_round ? last_ : "0", last = last_round ? last_ : "-1";
    if (!last_round || pieces_.empty()) {
      out_.line(fmt::format("{0} {1}first = {2}, {1}last = {3};", type(bits_), what, first, last));
    } else {
      out_.line(fmt::format("{0} {1}first = piece == {2} ? {3} : 0, {1}last = piece == {2} ? {3} : -1;", type(bits_), what, pieces_.size(), last_));
    }
    if (strided_ || !what.empty()) out_.line(fmt::format("{} {}step = 1;", type(bits_), what));
  }

  void over(const std::string& what, const char* variable, const std::function<void()>& body) {
    out_.line("HD_LOOP");
    const bool steps = strided_ || !what.empty();
    out_.open(fmt::format("for ({0} {2} = {1}first; {2} <= {1}last; {3})", type(bits_), what, variable,
                          steps ? fmt::format("{} += {}step", variable, what) : fmt::format("++{}", variable)));
    body();
    out_.close();
  }

  /// The call for the tile of any piece.
  void visit_any(size_t outer_loops) {
    if (plain_) return out_.line(fmt::format(fmt::runtime(call_), bits_ == 32 ? "tile" : "(i32)tile"));
    out_.line(fmt::format("{} number = tile;", type(bits_)));
    out_.line("bool exists = true;");
    each_piece([&](const ir::NestPiece& piece) {
      ExprText names = names_;
      if (outer_loops && piece.loops.size() == 2) names = inside(piece, 0, "outer");
      const Bounds found = bounds(piece.loops.back(), names);
      names.define(piece.loops.back().variable, {"tile", false, bits_, found.range});
      out_.line(fmt::format("number = {};", names.uniform(piece.value)));
      if (!piece.inner.empty()) out_.line(fmt::format("exists = {};", names.uniform(fold(Op::And, piece.inner))));
    });
    out_.line("if (exists) " + fmt::format(fmt::runtime(call_), bits_ == 32 ? "number" : "(i32)number"));
  }

  TextWriter& out_;
  const std::vector<ir::NestPiece>& pieces_;
  ExprText names_;
  std::string call_, last_;
  size_t depth_ = 1;
  bool strided_ = false;  ///< Some innermost loop has a stride.
  bool plain_ = true;     ///< Every piece visits its innermost variable.
  int bits_ = 32;
};

}  // namespace

void write_nest(TextWriter& out, const ir::LoopNest& nest, const ExprText& uniform, const std::string& call, const std::string& last) {
  NestWriter(out, nest, uniform, call, last).write();
}

}  // namespace heddle::codegen::clike
