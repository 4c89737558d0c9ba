#include "src/ir/loop_nest.h"
#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include "heddle/error.h"
#include "src/ir/evaluate.h"

namespace heddle::ir {

namespace {

/// "a", "max(a, b)", "max(a, b, c)".
std::string extreme(const char* name, const std::vector<Expr>& bounds) {
  std::vector<std::string> texts;
  for (const Expr& bound : bounds) texts.push_back(print(bound));
  return texts.size() == 1 ? texts[0] : fmt::format("{}({})", name, fmt::join(texts, ", "));
}

std::string conjunction(const std::vector<Expr>& conditions) {
  Expr all = conditions[0];
  for (size_t i = 1; i < conditions.size(); ++i) all = make(Op::And, {all, conditions[i]});
  return print(all);
}

std::string head(const Loop& loop) {
  std::string start = extreme("max", loop.lower);
  if (loop.offset) start = fmt::format("first(≡ {} mod {}) >= {}", print(loop.offset), loop.stride, start);
  const std::string step = loop.stride == 1 ? loop.variable + "++" : fmt::format("{} += {}", loop.variable, loop.stride);
  return fmt::format("for ({} = {}; {} <= {}; {})", loop.variable, start, loop.variable, extreme("min", loop.upper), step);
}

class NestPrinter {
 public:
  explicit NestPrinter(const std::string& call) : call_(call) {}

  void piece(const NestPiece& piece) {
    depth_ = 0;
    if (!piece.guards.empty()) open(fmt::format("if ({})", conjunction(piece.guards)));
    for (const Loop& loop : piece.loops) open(head(loop));
    if (!piece.inner.empty()) open(fmt::format("if ({})", conjunction(piece.inner)));
    open(fmt::format("{}({});", call_, print(piece.value)));
  }

  std::string text;

 private:
  void open(const std::string& line) {
    text += fmt::format("{:{}}{}\n", "", 2 * depth_, line);
    ++depth_;
  }

  const std::string& call_;
  int depth_ = 0;
};

class Visitor {
 public:
  Visitor(const std::map<std::string, int64_t>& ints, const std::function<void(int64_t)>& visit) : visit_(visit) {
    environment_.ints = ints;
  }

  void piece(const NestPiece& piece) {
    if (holds(piece.guards)) loop(piece, 0);
  }

 private:
  bool holds(const std::vector<Expr>& conditions) const {
    return std::all_of(conditions.begin(), conditions.end(), [&](const Expr& e) { return evaluate_bool(e, environment_); });
  }

  std::vector<int64_t> values(const std::vector<Expr>& bounds) const {
    if (bounds.empty()) throw InternalError("loop nest", "a loop has no bound");
    std::vector<int64_t> result;
    for (const Expr& bound : bounds) result.push_back(evaluate_int(bound, environment_));
    return result;
  }

  void loop(const NestPiece& piece, size_t level) {
    if (level == piece.loops.size()) {
      if (holds(piece.inner)) visit_(evaluate_int(piece.value, environment_));
      return;
    }
    const Loop& here = piece.loops[level];
    const std::vector<int64_t> lower = values(here.lower), upper = values(here.upper);
    int64_t at = *std::max_element(lower.begin(), lower.end());
    const int64_t last = *std::min_element(upper.begin(), upper.end());
    if (here.offset) {
      const int64_t stride = here.stride, wanted = floor_mod(evaluate_int(here.offset, environment_), stride);
      at += floor_mod(wanted - floor_mod(at, stride), stride);
    }
    while (at <= last) {
      environment_.ints[here.variable] = at;
      loop(piece, level + 1);
      if (at > std::numeric_limits<int64_t>::max() - here.stride) break;
      at += here.stride;
    }
    environment_.ints.erase(here.variable);
  }

  Environment environment_;
  const std::function<void(int64_t)>& visit_;
};

}  // namespace

std::string print(const LoopNest& nest, const std::string& call) {
  if (nest.pieces.empty()) return "(nothing)\n";
  NestPrinter printer(call);
  for (const NestPiece& piece : nest.pieces) printer.piece(piece);
  return printer.text;
}

void visit(const LoopNest& nest, const std::map<std::string, int64_t>& ints, const std::function<void(int64_t)>& visit) {
  Visitor visitor(ints, visit);
  for (const NestPiece& piece : nest.pieces) visitor.piece(piece);
}

}  // namespace heddle::ir
