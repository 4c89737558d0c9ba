#include "src/ir/scheduled_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "src/ir/rewrite.h"

namespace heddle::ir {
namespace {

const char* text(const Buffer& buffer) {
  switch (buffer.kind) {
    case BufferKind::Matrix: return buffer.element == Element::Pairs ? "pairs" : "matrix";
    case BufferKind::Row: return "row";
    case BufferKind::Staged: return "staged";
    case BufferKind::Offsets: return "offsets";
    case BufferKind::Flags: return "flags";
    case BufferKind::Sink: return "sink";
    case BufferKind::Frame: break;
  }
  return "frame";
}

/// Visits operands of one statement; absent ones (kNoBuffer) are skipped.
class OperandVisitor {
 public:
  explicit OperandVisitor(const std::function<void(BufferId&, Access)>& visit) : visit_(visit) {}

  void operator()(PackRows& s) { write(s.out); }
  void operator()(FillBuffer& s) { write(s.out); }
  void operator()(CopyBuffer& s) { read(s.in), write(s.out); }
  void operator()(ListKeys& s) { write(s.out); }
  void operator()(StageRows& s) {
    for (BufferId* id : {&s.all_keys, &s.live.flags, &s.live.offsets}) read(*id);
    write(s.out);
  }
  void operator()(RoundPairs& s) {
    for (BufferId* id : {&s.in, &s.live.flags, &s.live.offsets}) read(*id);
    write(s.out);
  }
  void operator()(RowMap& s) {
    for (BufferId& input : s.inputs) read(input);
    write(s.out);
  }
  void operator()(Contract& s) {
    for (BufferId* id : {&s.lhs, &s.rhs.staged, &s.accumulate.matrix, &s.accumulate.scale, &s.all_keys, &s.live.flags, &s.live.offsets}) read(*id);
    write(s.out), write(s.column_max);
  }
  void operator()(Sweep& s) {
    for (SweepOp& op : s.ops) {
      if (auto* load = std::get_if<SweepLoad>(&op)) read(load->buffer);
      if (auto* store = std::get_if<SweepStore>(&op); store && store->compact) read(store->live.flags);
    }
    for (SweepOp& op : s.ops) {
      if (auto* reduce = std::get_if<SweepReduce>(&op)) write(reduce->row);
      if (auto* flag = std::get_if<SweepFlag>(&op)) write(flag->flags);
      if (auto* store = std::get_if<SweepStore>(&op)) {
        write(store->matrix);
        if (store->compact) write(store->live.offsets);
      }
    }
  }
  void operator()(KeyLoopSchedule&) {}
  void operator()(StoreColumns& s) { read(s.in), write(s.slots); }
  void operator()(LoadColumns& s) { write(s.slots), write(s.out); }
  void operator()(SoftmaxRows& s) { write(s.lse); }
  void operator()(StoreRows& s) { read(s.in.matrix), read(s.in.scale); }

 private:
  void read(BufferId& id) { if (id != kNoBuffer) visit_(id, Access::Read); }
  void write(BufferId& id) { if (id != kNoBuffer) visit_(id, Access::Write); }
  const std::function<void(BufferId&, Access)>& visit_;
};

std::string times(bool softmax_scale, double factor) {
  return fmt::format("{}{}", softmax_scale ? " * scale" : "", factor == 1.0 ? "" : fmt::format(" * {}", factor));
}

/// Writes statements as text, one a line, bodies indented.
class Printer {
 public:
  explicit Printer(const ScheduledProgram& program) : program_(program) {}

  void body(const ScheduledBody& statements, int depth) {
    const int outer = std::exchange(depth_, depth);
    for (const ScheduledStatement& statement : statements) std::visit(*this, statement.op);
    depth_ = outer;
  }
  const std::string& out() const { return out_; }

  void operator()(const PackRows& s) {
    line(fmt::format("{} = pack {}[q]{}", name(s.out), text(s.tensor), times(s.softmax_scale, s.factor)));
  }
  void operator()(const FillBuffer& s) { line(fmt::format("{} = fill {}", name(s.out), s.value)); }
  void operator()(const CopyBuffer& s) { line(fmt::format("{} = {}", name(s.out), name(s.in))); }
  void operator()(const ListKeys& s) { line(fmt::format("{} = list every key of {}", name(s.out), text(s.tensor))); }
  void operator()(const StageRows& s) {
    const BufferId list = s.live.offsets == kNoBuffer ? s.all_keys : s.live.offsets;
    line(fmt::format("{} = {}[{}]", name(s.out), text(s.tensor), name(list)));
  }
  void operator()(const RoundPairs& s) { line(fmt::format("{} = pairs of {}", name(s.out), name(s.in))); }
  void operator()(const RowMap& s) {
    const Expr named = substitute(s.expr, [&](const ExprNode& node) -> Expr {
      return node.op == Op::Arg ? var(name(s.inputs.at(static_cast<size_t>(node.integer))), node.type) : nullptr;
    });
    line(fmt::format("{} = {}", name(s.out), print(named)));
  }
  void operator()(const Contract& s) {
    const bool dims = s.kind == Contraction::OverDims;
    const std::string rhs = s.rhs.staged == kNoBuffer ? text(s.rhs.tensor) : name(s.rhs.staged);
    std::string call = fmt::format("{} = {} . {}{}", name(s.out), name(s.lhs), rhs, times(s.rhs.softmax_scale, s.rhs.factor));
    if (s.accumulate.matrix != kNoBuffer) call += " + " + scaled(s.accumulate);
    call += dims ? " over dims" : " over keys" + keys_of(s);
    if (s.column_max != kNoBuffer) call += ", max -> " + name(s.column_max);
    line(fmt::format("{}  // {} columns x {} vectors in registers", call, s.tile_columns, program_.vectors()));
  }
  void operator()(const Sweep& s) {
    line(fmt::format("{}for each column{}:", s.partial_only ? "in partial steps " : "", s.columns == Extent::StepKeys ? " (key)" : ""));
    ++depth_;
    for (const SweepOp& op : s.ops) std::visit(*this, op);
    --depth_;
  }
  void operator()(const SweepLoad& op) { line(fmt::format("%{} = {}", op.local, name(op.buffer))); }
  void operator()(const SweepMap& op) {
    const Expr named = substitute(op.expr, [](const ExprNode& node) -> Expr {
      return node.op == Op::Arg ? var(fmt::format("%{}", node.integer), node.type) : nullptr;
    });
    const std::string guard = op.only_partial ? fmt::format("full step ? %{} : ", op.identity) : "";
    line(fmt::format("%{} = {}{}", op.local, guard, print(named)));
  }
  void operator()(const SweepReduce& op) {
    line(fmt::format("{} = {} of %{}", name(op.row), op.reduction == Reduction::Max ? "max" : "sum", op.local));
  }
  void operator()(const SweepFlag& op) { line(fmt::format("{} = some row has {}", name(op.flags), print(op.predicate))); }
  void operator()(const SweepStore& op) {
    line(fmt::format("{} = %{}{}", name(op.matrix), op.local, op.compact ? ", live keys only, listed in " + name(op.live.offsets) : ""));
  }
  void operator()(const KeyLoopSchedule& s) {
    line(fmt::format("for key tiles, up to {} a step:", s.tiles_per_step));
    if (s.source != LoopSource::Nest) {
      line((s.source == LoopSource::Tested ? "  every tile kb < NK, tested by " : "  the tiles that a bind lists for ") + print(s.predicate));
    } else {
      indented(print(s.full, "full") + print(s.partial, "partial"));
    }
    line("  step:");
    body(s.body, depth_ + 2);
  }
  void operator()(const StoreColumns& s) { line(fmt::format("{} = {}", slots(s.slot, s.allowed), name(s.in))); }
  void operator()(const LoadColumns& s) { line(fmt::format("{} = {}", name(s.out), slots(s.slot, s.allowed))); }
  void operator()(const SoftmaxRows& s) { line(fmt::format("{} = softmax of values[q, 0 .. {}]", name(s.lse), print(s.count))); }
  void operator()(const StoreRows& s) { line(fmt::format("{}[q] = {}", text(s.tensor), scaled(s.in))); }

 private:
  std::string keys_of(const Contract& s) const {
    const BufferId list = s.live.offsets == kNoBuffer ? s.all_keys : s.live.offsets;
    return list == kNoBuffer ? "" : " of " + name(list);
  }
  static std::string slots(const Expr& slot, const Expr& allowed) {
    return fmt::format("values[q, {}]{}", print(slot), allowed ? ", in partial steps where " + print(allowed) : "");
  }
  void line(const std::string& what) { out_ += std::string(static_cast<size_t>(2 * depth_), ' ') + what + "\n"; }
  void indented(const std::string& lines) {
    for (size_t begin = 0; begin < lines.size();) {
      const size_t end = std::min(lines.find('\n', begin), lines.size());
      line("  " + lines.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  std::string name(BufferId id) const { return program_.buffers.at(static_cast<size_t>(id)).name; }
  std::string scaled(const ScaledMatrix& value) const {
    return value.scale == kNoBuffer ? name(value.matrix) : name(value.scale) + " * " + name(value.matrix);
  }

  const ScheduledProgram& program_;
  std::string out_;
  int depth_ = 1;
};

}  // namespace

void visit_buffers(ScheduledStatement& statement, const std::function<void(BufferId&, Access)>& visit) {
  OperandVisitor visitor(visit);
  std::visit(visitor, statement.op);
}

void visit_buffers(const ScheduledStatement& statement, const std::function<void(BufferId, Access)>& visit) {
  ScheduledStatement copy = statement;
  visit_buffers(copy, std::function<void(BufferId&, Access)>([&](BufferId& id, Access access) { visit(id, access); }));
}

int64_t ScheduledProgram::needed(const Buffer& buffer) const {
  constexpr int64_t kReal = sizeof(float), kInteger = sizeof(int64_t);  // a pair is as wide as a real
  const int64_t columns = buffer.element == Element::Pairs ? (buffer.columns + 1) / 2 : buffer.columns;
  switch (buffer.kind) {
    case BufferKind::Matrix: case BufferKind::Row: return columns * tile_rows * kReal;
    case BufferKind::Staged: return columns * buffer.width * kReal;
    case BufferKind::Sink: return buffer.columns * kReal;
    case BufferKind::Flags: return buffer.columns;
    case BufferKind::Offsets: case BufferKind::Frame: break;
  }
  return buffer.columns * kInteger;
}

std::string print(const ScheduledProgram& program) {
  std::vector<std::string> names = program.int_params;
  names.insert(names.end(), program.real_params.begin(), program.real_params.end());
  for (const TableDeclaration& table : program.tables) names.push_back(table.name + "[]");
  std::string out = fmt::format("{} for {}{}: {} rows in {} vectors, tiles of {} keys, {} bytes of scratch{}\n", program.name,
                                program.target.to_string(), program.dtype == DType::Float32 ? "" : " on " + heddle::to_string(program.dtype), program.tile_rows, program.vectors(), program.tile_keys,
                                program.scratch_bytes, names.empty() ? "" : fmt::format(", parameters {}", fmt::join(names, ", ")));
  for (const Buffer& buffer : program.buffers) {
    out += fmt::format("  {:<16} {:<8} {:>5} columns at {:>6}, {} bytes\n", buffer.name, text(buffer), buffer.columns, buffer.offset,
                       buffer.bytes);
  }
  Printer printer(program);
  printer.body(program.body, 1);
  return out + printer.out();
}

}  // namespace heddle::ir
