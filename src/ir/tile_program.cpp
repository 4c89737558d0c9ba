#include "src/ir/tile_program.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/ir/rewrite.h"

namespace heddle::ir {

const char* text(TensorId tensor) {
  switch (tensor) {
    case TensorId::Q: return "Q";
    case TensorId::K: return "K";
    case TensorId::V: return "V";
    case TensorId::O: return "O";
    case TensorId::Lse: break;
  }
  return "LSE";
}

namespace {

const char* text(Extent extent) {
  switch (extent) {
    case Extent::BlockRows: return "rows";
    case Extent::StepKeys: return "keys";
    case Extent::HeadDim: return "head_dim";
    case Extent::ValueDim: return "value_dim";
    case Extent::One: break;
  }
  return "1";
}

std::string indent(const std::string& lines, int depth) {
  std::string out, pad(static_cast<size_t>(2 * depth), ' ');
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    out += pad + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

/// Writes statements as text, one a line, loops indented.
class Printer {
 public:
  explicit Printer(const TileProgram& program) : program_(program) {}

  void body(const Body& statements, int depth) {
    depth_ = depth;
    for (const Statement& statement : statements) std::visit(*this, statement.op);
  }
  const std::string& out() const { return out_; }

  void operator()(const Stage& s) {
    const char* rows = s.tensor == TensorId::Q ? "q" : "k";
    define(s.out, fmt::format("stage {}[{}]{}{}", text(s.tensor), rows, s.softmax_scale ? " * scale" : "",
                              s.factor == 1.0 ? "" : fmt::format(" * {}", s.factor)));
  }
  void operator()(const Fill& s) { define(s.out, fmt::format("fill {}", s.value)); }
  void operator()(const Mma& s) {
    std::string call = fmt::format("mma {} . {}{}", name(s.lhs), name(s.rhs), s.rhs_transposed ? "^T" : "");
    if (s.accumulate != kNoValue) call += " + " + name(s.accumulate);
    if (s.live) call += " live(" + print(s.live) + ")";
    define(s.out, call);
  }
  void operator()(const Map& s) {
    define(s.out, fmt::format("{}{}", s.only_partial ? "in partial tiles " : "", print(named(s))));
  }
  void operator()(const RowReduce& s) {
    define(s.out, fmt::format("{} over keys of {}", s.reduction == Reduction::Max ? "max" : "sum", name(s.in)));
  }
  void operator()(const KeyLoop& s) {
    std::vector<std::string> enters, leaves;
    for (const Carried& c : s.carried) enters.push_back(name(c.inner) + " = " + name(c.init));
    for (const Carried& c : s.carried) leaves.push_back(name(c.out) + " = " + name(c.yield));
    line(fmt::format("keys carry({}):", fmt::join(enters, ", ")));
    source(s);
    Printer inner(program_);
    inner.body(s.body, depth_ + 1);
    out_ += inner.out();
    line(fmt::format("  yield({})", fmt::join(leaves, ", ")));
  }
  void operator()(const StoreValues& s) { line(fmt::format("{} = {}", slots(s.slot, s.allowed), name(s.in))); }
  void operator()(const LoadValues& s) { define(s.out, slots(s.slot, s.allowed)); }
  void operator()(const SoftmaxValues& s) { define(s.lse, fmt::format("softmax of values[q, 0 .. {}]", print(s.count))); }
  void operator()(const Store& s) { line(fmt::format("store {}[q] = {}", text(s.tensor), name(s.in))); }

 private:
  static std::string slots(const Expr& slot, const Expr& allowed) {
    return fmt::format("values[q, {}]{}", print(slot), allowed ? " in partial tiles where " + print(allowed) : "");
  }
  void line(const std::string& what) { out_ += indent(what, depth_); }
  void define(ValueId id, const std::string& what) {
    const ValueInfo& value = program_.values.at(static_cast<size_t>(id));
    const char* kind = value.kind == ValueKind::Tile ? "tile" : value.kind == ValueKind::Row ? "row" : "fragment";
    line(fmt::format("{}: {}[{}, {}] = {}", value.name, kind, text(value.rows), text(value.cols), what));
  }
  std::string name(ValueId id) const {
    return id >= 0 && static_cast<size_t>(id) < program_.values.size() ? program_.values[static_cast<size_t>(id)].name : "?";
  }
  Expr named(const Map& map) const {
    return substitute(map.expr, [&](const ExprNode& node) -> Expr {
      if (node.op != Op::Arg) return nullptr;
      const bool known = node.integer >= 0 && static_cast<size_t>(node.integer) < map.inputs.size();
      return var(known ? name(map.inputs[static_cast<size_t>(node.integer)]) : "?", node.type);
    });
  }
  void source(const KeyLoop& loop) {
    if (loop.source != LoopSource::Nest) {
      const char* tiles = loop.source == LoopSource::Tested ? "every tile kb < NK, tested by " : "the tiles that a bind lists for ";
      return line(fmt::format("  over {}{}", tiles, loop.predicate ? print(loop.predicate) : "?"));
    }
    line("  over full tiles F, then partial tiles P");
    out_ += indent(print(loop.full, "F") + print(loop.partial, "P"), depth_ + 2);
  }

  const TileProgram& program_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string print(const TileProgram& program) {
  Printer printer(program);
  printer.body(program.body, 1);
  std::vector<std::string> names = program.int_params;
  names.insert(names.end(), program.real_params.begin(), program.real_params.end());
  for (const TableDeclaration& table : program.tables) names.push_back(table.name + "[]");
  const std::string parameters = names.empty() ? "" : fmt::format(", parameters {}", fmt::join(names, ", "));
  const std::string dtype = program.dtype == DType::Float32 ? "" : ", " + heddle::to_string(program.dtype);
  return fmt::format("{}: block of {} rows, tiles of {} keys, steps of {} keys, head_dim {}, value_dim {}{}{}\n{}", program.name,
                     program.tile_rows, program.tile_keys, program.keys_per_step, program.head_dim, program.value_dim, dtype, parameters,
                     printer.out());
}

}  // namespace heddle::ir
