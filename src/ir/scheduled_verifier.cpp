#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "heddle/error.h"
#include "src/ir/scheduled_program.h"
#include "src/support/half.h"

namespace heddle::ir {
namespace {

constexpr int64_t kAlignment = 64;

class Verifier {
 public:
  explicit Verifier(const ScheduledProgram& program) : program_(program) {}

  void run() {
    require(program_.tile_rows > 0 && program_.tile_rows % program_.lanes() == 0, "rows fill whole vectors");
    require(support::is_operand_type(program_.dtype), "tensors are float32, bfloat16 or float16");
    require(program_.tile_keys > 0 && program_.head_dim > 0 && program_.value_dim > 0, "sizes are positive");
    buffers();
    operand(program_.frame, BufferKind::Frame, 5);
    operand(program_.sink, BufferKind::Sink, std::max(program_.head_dim, program_.value_dim));
    body(program_.body);
  }

  void operator()(const PackRows& s) {
    require(s.tensor == TensorId::Q, "packed rows are query rows");
    operand(s.out, BufferKind::Matrix, 1);
    if (!pairs(s.out)) return;
    require(program_.multiplies_pairs() && !s.softmax_scale && s.factor == 1, "pairs are packed as they are");
  }
  void operator()(const FillBuffer& s) { rows_or_matrix(s.out); }
  void operator()(const CopyBuffer& s) {
    rows_or_matrix(s.out), rows_or_matrix(s.in);
    require(buffer(s.out).kind == buffer(s.in).kind && buffer(s.out).columns == buffer(s.in).columns, "copies keep the shape");
  }
  void operator()(const ListKeys& s) {
    operand(s.out, BufferKind::Offsets, 1);
    require(s.tensor == TensorId::K || s.tensor == TensorId::V, "listed keys are rows of K or V");
  }
  void operator()(const StageRows& s) {
    require(loop_ != nullptr, "rows of keys are staged in loops");
    require(s.tensor == TensorId::K || s.tensor == TensorId::V, "staged rows are those of K or V");
    const int64_t keys = program_.keys_per_step(*loop_);
    staged(s.out, s.tensor, keys), operand(s.all_keys, BufferKind::Offsets, keys);
    optional(s.live.offsets, BufferKind::Offsets, keys);
  }
  void operator()(const RoundPairs& s) {
    require(loop_ != nullptr && program_.multiplies_pairs(), "pairs are made in loops, for dot products");
    matrix(s.in, program_.keys_per_step(*loop_)), operand(s.out, BufferKind::Matrix, buffer(s.in).columns);
    require(pairs(s.out), "rounding makes pairs");
    optional(s.live.offsets, BufferKind::Offsets, program_.keys_per_step(*loop_));
  }
  void operator()(const RowMap& s) {
    for (BufferId input : s.inputs) operand(input, BufferKind::Row, 1);
    operand(s.out, BufferKind::Row, 1);
    require(s.expr && s.expr->type == Type::Real, "maps have Real expressions");
  }
  void operator()(const Contract& s) {
    require(loop_ != nullptr, "contracts stand in loops: they need keys");
    require(s.rhs.tensor == TensorId::K || s.rhs.tensor == TensorId::V, "right operands are K and V");
    const int live_registers = s.tile_columns * program_.vectors() + program_.vectors() + 1;
    const bool fits = s.tile_columns == 1 || live_registers <= program_.target.vector_registers();
    require(s.tile_columns > 0 && fits, "a register tile keeps to the registers");
    const int64_t keys = program_.keys_per_step(*loop_), dims = program_.dims(s.rhs.tensor);
    const bool over_dims = s.kind == Contraction::OverDims;
    exactly(s.lhs, over_dims ? dims : keys), exactly(s.out, over_dims ? keys : dims);
    require(!over_dims || s.accumulate.matrix == kNoBuffer, "contracts over dims start from 0");
    if (s.accumulate.matrix != kNoBuffer) exactly(s.accumulate.matrix, buffer(s.out).columns);
    require(s.lhs != s.out, "contracts do not overwrite their left operand");
    optional(s.accumulate.scale, BufferKind::Row, 1), optional(s.column_max, BufferKind::Row, 1);
    if (s.rhs.staged == kNoBuffer) {
      require(program_.dtype == DType::Float32 || (pairs(s.lhs) && over_dims), "operands in place are f32 in memory, or pairs of dims");
      if (!over_dims) operand(s.all_keys, BufferKind::Offsets, keys);
    } else {
      staged(s.rhs.staged, s.rhs.tensor, keys);
      require(pairs(s.lhs) == pairs(s.rhs.staged), "both operands are pairs, or none is");
    }
    require(!pairs(s.out) && (!pairs(s.lhs) || program_.multiplies_pairs()), "dot products take pairs and make reals");
    if (over_dims) return;
    optional(s.live.offsets, BufferKind::Offsets, keys);
  }
  void operator()(const Sweep& s) {
    const bool keys = s.columns == Extent::StepKeys;
    require(!keys || loop_ != nullptr, "passes over keys stand in loops");
    require(keys || s.columns == Extent::HeadDim || s.columns == Extent::ValueDim, "passes go over keys or dims");
    columns_ = keys ? program_.keys_per_step(*loop_) : s.columns == Extent::HeadDim ? program_.head_dim : program_.value_dim;
    locals_.clear();
    for (const SweepOp& op : s.ops) std::visit(*this, op);
    const auto compacting = [](const SweepOp& op) { return std::holds_alternative<SweepStore>(op) && std::get<SweepStore>(op).compact; };
    require(std::count_if(s.ops.begin(), s.ops.end(), compacting) <= 1, "a pass lists live keys once");
  }
  void operator()(const SweepLoad& op) {
    if (op.row) {
      operand(op.buffer, BufferKind::Row, 1);
    } else {
      matrix(op.buffer, columns_);
    }
    define(op.local);
  }
  void operator()(const SweepMap& op) {
    require(op.expr && op.expr->type == Type::Real, "maps have Real expressions");
    arguments(op.expr);
    if (op.only_partial) use(op.identity);
    define(op.local);
  }
  void operator()(const SweepReduce& op) { use(op.local), operand(op.row, BufferKind::Row, 1); }
  void operator()(const SweepFlag& op) {
    operand(op.flags, BufferKind::Flags, columns_);
    require(op.predicate && op.predicate->type == Type::Bool, "flags have Bool predicates");
  }
  void operator()(const SweepStore& op) {
    use(op.local), matrix(op.matrix, columns_);
    if (!op.compact) return;
    operand(op.live.flags, BufferKind::Flags, columns_), operand(op.live.offsets, BufferKind::Offsets, columns_);
    require(op.tensor == TensorId::K || op.tensor == TensorId::V, "listed keys are rows of K or V");
  }
  void operator()(const KeyLoopSchedule& s) {
    require(loop_ == nullptr, "key loops do not nest");
    require(s.tiles_per_step > 0, "a step holds a tile");
    require(s.source == LoopSource::Nest || s.predicate != nullptr, "tested and listed loops have a predicate");
    loop_ = &s;
    body(s.body);
    loop_ = nullptr;
  }
  void operator()(const StoreColumns& s) {
    values(s.slots, s.slot);
    exactly(s.in, program_.keys_per_step(*loop_));
  }
  void operator()(const LoadColumns& s) {
    values(s.slots, s.slot);
    exactly(s.out, program_.keys_per_step(*loop_));
  }
  void operator()(const SoftmaxRows& s) {
    require(loop_ == nullptr, "the softmax of rows stands outside of the loops");
    operand(s.lse, BufferKind::Row, 1);
    require(s.count && s.count->type == Type::Int, "counts are Int");
  }
  void operator()(const StoreRows& s) {
    require(loop_ == nullptr, "stores stand after the loops");
    if (s.tensor == TensorId::Lse) return operand(s.in.matrix, BufferKind::Row, 1);
    require(s.tensor == TensorId::O, "results are O and LSE");
    exactly(s.in.matrix, program_.value_dim), optional(s.in.scale, BufferKind::Row, 1);
  }

 private:
  [[noreturn]] void broken(const std::string& rule) const {
    throw InternalError("schedule verifier", fmt::format("program \"{}\": {}: broken by {}", program_.name, rule, where_));
  }
  void require(bool holds, const char* rule) const { if (!holds) broken(rule); }

  void body(const ScheduledBody& statements) {
    const std::string outer = where_;
    for (size_t i = 0; i < statements.size(); ++i) {
      static constexpr const char* kNames[] = {
#define X(name) #name,
          HEDDLE_SCHEDULED_STATEMENTS(X)
#undef X
      };
      where_ = fmt::format("{} / {} {}", outer, i + 1, kNames[statements[i].op.index()]);
      std::visit(*this, statements[i].op);
    }
    where_ = outer;
  }

  void buffers() const {
    std::vector<const Buffer*> order;
    for (const Buffer& buffer : program_.buffers) order.push_back(&buffer);
    std::sort(order.begin(), order.end(), [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; });
    int64_t end = 0;
    for (const Buffer* buffer : order) {
      require(buffer->offset % kAlignment == 0, "buffers are aligned");
      require(buffer->offset >= end && buffer->bytes >= program_.needed(*buffer), "buffers are disjoint and large enough");
      end = buffer->offset + buffer->bytes;
    }
    require(end <= program_.scratch_bytes, "buffers lie inside scratch");
  }

  const Buffer& buffer(BufferId id) const {
    require(id >= 0 && static_cast<size_t>(id) < program_.buffers.size(), "operands are buffers of the program");
    return program_.buffers[static_cast<size_t>(id)];
  }
  void operand(BufferId id, BufferKind kind, int64_t columns) const {
    require(buffer(id).kind == kind && buffer(id).columns >= columns, "operands have the kind and size their use needs");
  }
  void optional(BufferId id, BufferKind kind, int64_t columns) const { if (id != kNoBuffer) operand(id, kind, columns); }
  bool pairs(BufferId id) const { return buffer(id).element == Element::Pairs; }
  void matrix(BufferId id, int64_t columns) const {
    operand(id, BufferKind::Matrix, columns);
    require(!pairs(id), "pairs are for dot products alone");
  }
  void exactly(BufferId id, int64_t columns) const {
    require(buffer(id).kind == BufferKind::Matrix && buffer(id).columns == columns, "matrices have the columns their use needs");
  }
  void rows_or_matrix(BufferId id) const {
    require(buffer(id).kind == BufferKind::Matrix || buffer(id).kind == BufferKind::Row, "fills and copies are of reals");
    require(!pairs(id), "pairs are for dot products alone");
  }
  void values(BufferId slots, const Expr& slot) const {
    require(loop_ != nullptr, "columns of values belong to the steps of a loop");
    operand(slots, BufferKind::Offsets, program_.tile_rows);
    operand(program_.sink, BufferKind::Sink, program_.tile_keys);
    require(slot && slot->type == Type::Int, "slots are Int");
  }
  void staged(BufferId id, TensorId tensor, int64_t keys) const {
    operand(id, BufferKind::Staged, keys);
    require(buffer(id).width == program_.dims(tensor), "staged rows are as wide as the tensor's");
  }

  void define(int local) { require(locals_.insert(local).second, "locals are defined once"); }
  void use(int local) const { require(locals_.contains(local), "locals are defined before use"); }
  void arguments(const Expr& expr) const {
    if (expr->op == Op::Arg) use(static_cast<int>(expr->integer));
    for (const Expr& part : expr->operands) arguments(part);
  }

  const ScheduledProgram& program_;
  const KeyLoopSchedule* loop_ = nullptr;
  int64_t columns_ = 0;
  std::set<int> locals_;
  std::string where_ = "the program";
};

}  // namespace

void verify(const ScheduledProgram& program) { Verifier(program).run(); }

}  // namespace heddle::ir
