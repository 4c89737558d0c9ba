#include <algorithm>
#include <cfloat>

#include "src/codegen/llvm/body_emitter.h"

namespace heddle::codegen {
namespace {

using ir::kNoBuffer;

/// Emits a sweep for one class of steps.
class SweepEmitter {
 public:
  SweepEmitter(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext* step, VectorMath& math,
               const ir::Sweep& sweep, bool partial)
      : b_(b), program_(program), block_(block), step_(step), sweep_(sweep), partial_(partial),
        expr_(b, math, block.uniform, block.reals, block.rows) {}

  /// The loop over columns. Returns the number of live keys listed, for a compacting sweep in a partial step.
  Value* run() {
    prepare();
    Values carried;
    for (const ir::SweepOp& op : sweep_.ops) {
      if (const auto* reduce = std::get_if<ir::SweepReduce>(&op)) {
        carried.append(vectors(), b_.splat_real(reduce->reduction == ir::Reduction::Max ? -FLT_MAX : 0));
      }
    }
    carried.push_back(b_.constant(0));  // the next column of compacted matrices
    Value* columns = sweep_.columns == ir::Extent::StepKeys ? step_->keys : b_.constant(constant_columns());
    const Values result = b_.loop("sweep", b_.constant(0), columns, 1, carried, [&](Value* n, llvm::ArrayRef<Value*> before) {
      return column(n, before);
    }, Trips::AtLeastOne);
    store_reductions(result);
    return result.back();
  }

  void operator()(const ir::SweepLoad& op) {
    if (!op.row) define(op.local, matrix(b_, program_, block_, op.buffer).load(b_, column_));
  }
  void operator()(const ir::SweepMap& op) {
    define(op.local, op.only_partial && !partial_ ? locals_.at(op.identity) : expr_.real(op.expr));
  }
  void operator()(const ir::SweepReduce& op) {
    const Values& value = locals_.at(op.local);
    for (Value* vector : value) {
      Value*& sum = state_[next_state_++];
      sum = op.reduction == ir::Reduction::Max ? b_.maximum(vector, sum) : b_.CreateFAdd(sum, vector);
    }
  }
  void operator()(const ir::SweepFlag& op) {
    if (!partial_) return;
    Value* any = nullptr;
    for (Value* vector : expr_.predicate(op.predicate)) any = any ? b_.CreateOr(any, vector) : vector;
    flags_[op.flags] = b_.CreateOrReduce(any);
    b_.CreateAlignedStore(b_.CreateZExt(flags_[op.flags], b_.getInt8Ty()), flag_address(op.flags), llvm::Align(1));
  }
  void operator()(const ir::SweepStore& op) {
    const Matrix out = matrix(b_, program_, block_, op.matrix);
    const bool compact = op.compact && partial_;
    out.store(b_, compact ? state_.back() : column_, locals_.at(op.local));
    if (compact) list_live(op);
  }

 private:
  size_t vectors() const { return static_cast<size_t>(program_.vectors()); }
  int64_t constant_columns() const {
    return sweep_.columns == ir::Extent::ValueDim ? program_.value_dim : program_.head_dim;
  }

  void define(int local, const Values& value) {
    locals_[local] = value;
    expr_.bind(local, value, false);
  }
  void prepare() {
    for (const ir::SweepOp& op : sweep_.ops) {
      const auto* load = std::get_if<ir::SweepLoad>(&op);
      if (!load || !load->row) continue;
      locals_[load->local] = matrix(b_, program_, block_, load->buffer).load(b_, b_.constant(0));
      expr_.bind(load->local, locals_[load->local], true);
    }
    for (const ir::SweepOp& op : sweep_.ops) {
      const auto* map = std::get_if<ir::SweepMap>(&op);
      const auto* flag = std::get_if<ir::SweepFlag>(&op);
      if (map && (partial_ || !map->only_partial)) expr_.hoist(map->expr);
      if (flag && partial_) expr_.hoist(flag->predicate);
    }
  }
  Values column(Value* n, llvm::ArrayRef<Value*> before) {
    column_ = n;
    state_.assign(before.begin(), before.end());
    next_state_ = 0;
    expr_.begin_column(sweep_.columns == ir::Extent::StepKeys ? b_.CreateAdd(step_->first_key, n) : nullptr);
    for (const ir::SweepOp& op : sweep_.ops) std::visit(*this, op);
    if (live_) state_.back() = b_.CreateAdd(state_.back(), b_.CreateZExt(live_, b_.getInt64Ty()));
    return state_;
  }
  void store_reductions(const Values& result) {
    size_t next = 0;
    for (const ir::SweepOp& op : sweep_.ops) {
      const auto* reduce = std::get_if<ir::SweepReduce>(&op);
      if (!reduce) continue;
      const Values value(result.begin() + static_cast<ptrdiff_t>(next), result.begin() + static_cast<ptrdiff_t>(next + vectors()));
      matrix(b_, program_, block_, reduce->row).store(b_, b_.constant(0), value);
      next += vectors();
    }
  }

  Value* flag_address(ir::BufferId flags) {
    return b_.element(b_.getInt8Ty(), buffer_address(b_, program_, block_, flags), column_);
  }
  void list_live(const ir::SweepStore& op) {
    Value* list = buffer_address(b_, program_, block_, op.live.offsets);
    Value* offset = b_.CreateMul(column_, block_.row_stride.at(op.tensor));
    b_.CreateAlignedStore(offset, b_.element(b_.getInt64Ty(), list, state_.back()), llvm::Align(8));
    const auto known = flags_.find(op.live.flags);
    live_ = known != flags_.end() ? known->second
                                  : b_.CreateTrunc(b_.CreateAlignedLoad(b_.getInt8Ty(), flag_address(op.live.flags), llvm::Align(1)),
                                                   b_.getInt1Ty());
  }

  IrBuilder& b_;
  const ir::ScheduledProgram& program_;
  BlockContext& block_;
  StepContext* step_;
  const ir::Sweep& sweep_;
  bool partial_;
  VectorExpr expr_;
  std::map<int, Values> locals_;
  std::map<ir::BufferId, Value*> flags_;
  Values state_;
  size_t next_state_ = 0;
  Value *column_ = nullptr, *live_ = nullptr;
};

bool differs_in_partial_steps(const ir::Sweep& sweep) {
  return std::any_of(sweep.ops.begin(), sweep.ops.end(), [](const ir::SweepOp& op) {
    const auto* map = std::get_if<ir::SweepMap>(&op);
    const auto* store = std::get_if<ir::SweepStore>(&op);
    return (map && map->only_partial) || (store && store->compact) || std::holds_alternative<ir::SweepFlag>(op);
  });
}

/// The list that a compacting store of the sweep makes.
ir::BufferId live_list(const ir::Sweep& sweep) {
  for (const ir::SweepOp& op : sweep.ops) {
    const auto* store = std::get_if<ir::SweepStore>(&op);
    if (store && store->compact) return store->live.offsets;
  }
  return kNoBuffer;
}

}  // namespace

void emit_sweep(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext* step, VectorMath& math,
                const ir::Sweep& s) {
  auto run = [&](bool partial) { return SweepEmitter(b, program, block, step, math, s, partial).run(); };
  if (!s.partial_only && !differs_in_partial_steps(s)) {
    run(false);
    return;
  }
  const Values count = b.either(step->partial, [&] { return Values{run(true)}; }, [&] {
    if (!s.partial_only) run(false);
    return Values{step->keys};
  });
  if (live_list(s) != kNoBuffer) step->live_count[live_list(s)] = count[0];
}

}  // namespace heddle::codegen
