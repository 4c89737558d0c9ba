#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "heddle/error.h"
#include "src/ir/rewrite.h"
#include "src/lower/schedule_cpu.h"
#include "src/lower/schedule_draft.h"
#include "src/lower/sweep_builder.h"
#include "src/plan/cost_model.h"

namespace heddle::lower {
namespace {

using ir::BufferId;
using ir::Extent;
using ir::kNoBuffer;
using ir::kNoValue;
using ir::ValueId;
using ir::ValueKind;

bool contains(const ir::Expr& tree, const ir::Expr& part) {
  if (ir::equal(tree, part)) return true;
  return std::any_of(tree->operands.begin(), tree->operands.end(), [&](const ir::Expr& e) { return contains(e, part); });
}

/// How often each value is read, loops' initial and yielded values included.
std::vector<int> count_uses(const ir::TileProgram& program) {
  std::vector<int> uses(program.values.size());
  auto use = [&](ValueId id) { if (id != kNoValue) ++uses[static_cast<size_t>(id)]; };
  const std::function<void(const ir::Body&)> walk = [&](const ir::Body& body) {
    for (const ir::Statement& statement : body) {
      if (const auto* mma = std::get_if<ir::Mma>(&statement.op)) use(mma->lhs), use(mma->rhs), use(mma->accumulate);
      if (const auto* map = std::get_if<ir::Map>(&statement.op)) std::for_each(map->inputs.begin(), map->inputs.end(), use);
      if (const auto* reduce = std::get_if<ir::RowReduce>(&statement.op)) use(reduce->in);
      if (const auto* store = std::get_if<ir::Store>(&statement.op)) use(store->in);
      if (const auto* store = std::get_if<ir::StoreValues>(&statement.op)) use(store->in);
      if (const auto* loop = std::get_if<ir::KeyLoop>(&statement.op)) {
        walk(loop->body);
        for (const ir::Carried& c : loop->carried) use(c.init), use(c.yield);
      }
    }
  };
  walk(program.body);
  return uses;
}

/// Columns of the register tiles of a program: those of the plan's; blocks of more rows than its vectors take one at a time.
int register_columns(const ir::ScheduledProgram& program) {
  const plan::RegisterTile tile = plan::register_tile(program.target, program.tile_rows);
  return tile.vectors == program.vectors() ? static_cast<int>(tile.keys) : 1;
}

class Scheduler {
 public:
  Scheduler(const ir::TileProgram& program, const Target& target) : program_(program), uses_(count_uses(program)) {
    ir::ScheduledProgram& out = draft_.program;
    out.name = program.name;
    out.target = target, out.dtype = program.dtype;
    out.tile_rows = program.tile_rows, out.tile_keys = program.tile_keys;
    out.head_dim = program.head_dim, out.value_dim = program.value_dim;
    out.int_params = program.int_params, out.real_params = program.real_params, out.tables = program.tables;
    for (const ir::ValueInfo& value : program.values) out.buffers.push_back(value_buffer(value));
    out.frame = buffer("frame", ir::BufferKind::Frame, 8);
    out.sink = buffer("sink", ir::BufferKind::Sink, std::max({program.head_dim, program.value_dim, program.tile_keys}));
  }

  ScheduleDraft run() {
    out_ = &draft_.program.body;
    body(program_.body);
    draft_.program.body.insert(draft_.program.body.begin(), lists_.begin(), lists_.end());
    std::map<size_t, std::vector<CarriedBuffers>> shifted;
    for (auto& [index, carried] : draft_.carried) shifted[index + lists_.size()] = std::move(carried);
    draft_.carried = std::move(shifted);
    return std::move(draft_);
  }

  void operator()(const ir::Stage& s) {
    tiles_[s.out] = s;
    if (s.tensor != ir::TensorId::Q) return;
    if (draft_.program.multiplies_pairs()) {  // as they are: factors multiply the sums of products
      draft_.program.buffers[static_cast<size_t>(s.out)].element = ir::Element::Pairs;
      emit(ir::PackRows{s.out, s.tensor});
    } else {
      emit(ir::PackRows{s.out, s.tensor, s.softmax_scale, s.factor});
    }
  }
  void operator()(const ir::Fill& s) { emit(ir::FillBuffer{s.out, s.value}); }
  void operator()(const ir::Map& s) {
    if (is_row(s.out)) return row_map(s);
    if (fold(s)) return;
    open(info(s.out).cols, s.inputs).map(s, [this](ValueId id) { return is_row(id); });
    consume_all(s.inputs);
    for (const Live& live : live_) {
      if (!flagged_.contains(live.keys.flags) && contains(s.expr, live.predicate)) flag(live);
    }
  }
  void operator()(const ir::RowReduce& s) {
    open(info(s.in).cols, {s.in}).reduce(s);
    consume(s.in);
  }
  void operator()(const ir::Mma& s);
  void operator()(const ir::KeyLoop& s);
  void operator()(const ir::StoreValues& s) {
    flush();
    emit(ir::StoreColumns{s.in, slots(), s.slot, s.allowed});
    consume(s.in);
  }
  void operator()(const ir::LoadValues& s) {
    flush();
    emit(ir::LoadColumns{s.out, slots(), s.slot, s.allowed});
  }
  void operator()(const ir::SoftmaxValues& s) {
    flush();
    emit(ir::SoftmaxRows{s.lse, s.count});
  }
  void operator()(const ir::Store& s) {
    flush();
    emit(ir::StoreRows{s.tensor, scaled(s.in)});
  }

 private:
  /// A predicate whose live keys some Mma of the body asks for.
  struct Live { ir::Expr predicate; const ir::Mma* user; ir::LiveKeys keys; ir::TensorId tensor; };

  const ir::ValueInfo& info(ValueId id) const { return program_.values.at(static_cast<size_t>(id)); }
  bool is_row(ValueId id) const { return info(id).kind == ValueKind::Row; }
  int64_t columns(Extent extent) const {
    switch (extent) {
      case Extent::StepKeys: return steps() * program_.tile_keys;
      case Extent::HeadDim: return program_.head_dim;
      case Extent::ValueDim: return program_.value_dim;
      default: return 1;
    }
  }
  int64_t steps() const { return std::max<int64_t>(1, program_.keys_per_step / program_.tile_keys); }
  ir::Buffer value_buffer(const ir::ValueInfo& value) const {
    return {value.name, value.kind == ValueKind::Row ? ir::BufferKind::Row : ir::BufferKind::Matrix, columns(value.cols)};
  }
  BufferId buffer(const std::string& name, ir::BufferKind kind, int64_t count) {
    draft_.program.buffers.push_back({name, kind, count});
    return static_cast<BufferId>(draft_.program.buffers.size()) - 1;
  }

  BufferId slots() { return buffer("slots", ir::BufferKind::Offsets, program_.tile_rows); }

  void emit(auto statement) { out_->push_back({std::move(statement)}); }
  void body(const ir::Body& statements) {
    for (const ir::Statement& statement : statements) std::visit(*this, statement.op);
    flush();
  }
  void consume(ValueId id) { --uses_[static_cast<size_t>(id)]; }
  void consume_all(const std::vector<ValueId>& ids) { for (ValueId id : ids) consume(id); }
  bool used_later(ValueId id) const { return uses_[static_cast<size_t>(id)] > 0; }

  /// A fragment times a Row that one later statement reads: that statement multiplies.
  bool fold(const ir::Map& s) {
    const ir::ExprNode& e = *s.expr;
    if (e.op != ir::Op::Mul || s.only_partial || s.inputs.size() != 2 || uses_[static_cast<size_t>(s.out)] != 1) return false;
    if (e.operands[0]->op != ir::Op::Arg || e.operands[1]->op != ir::Op::Arg || !foldable_.contains(s.out)) return false;
    const ValueId a = s.inputs[static_cast<size_t>(e.operands[0]->integer)], b = s.inputs[static_cast<size_t>(e.operands[1]->integer)];
    if (is_row(a) == is_row(b)) return false;
    folded_[s.out] = is_row(a) ? ir::ScaledMatrix{b, a} : ir::ScaledMatrix{a, b};
    return true;
  }
  /// The operand `id` of a Contract or Store, whatever was folded into it.
  ir::ScaledMatrix scaled(ValueId id) {
    consume(id);
    const auto found = folded_.find(id);
    if (found == folded_.end()) return {id, kNoBuffer};
    consume(found->second.matrix), consume(found->second.scale);
    return found->second;
  }

  void row_map(const ir::Map& s) {
    consume_all(s.inputs);
    const bool waits = std::any_of(s.inputs.begin(), s.inputs.end(), [&](ValueId id) { return waits_for_sweep(id); });
    const ir::ScheduledStatement statement = {ir::RowMap{s.out, s.inputs, s.expr}};
    if (waits) {
      after_.push_back(statement);
      waiting_.insert(s.out);
    } else {
      out_->push_back(statement);
    }
  }
  bool waits_for_sweep(ValueId id) const { return (sweep_ && sweep_->reduces_to(id)) || waiting_.contains(id); }

  /// The pass that can take a map or reduction over these inputs, started anew where the open one cannot.
  SweepBuilder& open(Extent columns, const std::vector<ValueId>& inputs) {
    const bool waits = std::any_of(inputs.begin(), inputs.end(), [&](ValueId id) { return waits_for_sweep(id); });
    if (sweep_ && (waits || sweep_->columns() != columns)) flush();
    if (!sweep_) sweep_.emplace(columns);
    return *sweep_;
  }
  void flag(const Live& live) {
    sweep_->flag(live.keys.flags, live.predicate);
    flagged_.insert(live.keys.flags);
  }

  void flush();
  bool run_in_partial_steps_only();
  void store_results();
  const Live* sole_user(ValueId value) const;
  void store_live(ValueId value, const Live& live);
  void find_live(const ir::Body& body);
  BufferId all_keys(ir::TensorId tensor);
  void stage_rows(ir::Contract& contract, ir::Element element);
  void take_pairs(ir::Contract& contract, ValueId lhs);

  const ir::TileProgram& program_;
  ScheduleDraft draft_;
  ir::ScheduledBody* out_ = nullptr;
  ir::ScheduledBody after_, lists_;              ///< Row maps that wait for the open pass; ListKeys of the whole block.
  std::vector<int> uses_;                        ///< Reads still to come.
  std::map<ValueId, ir::Stage> tiles_;
  std::set<ValueId> foldable_, waiting_;
  std::map<ValueId, ir::ScaledMatrix> folded_;
  std::optional<SweepBuilder> sweep_;
  std::vector<Live> live_;                       ///< Of the body at hand.
  std::set<BufferId> flagged_;
  std::set<ValueId> compacted_;                  ///< Fragments that hold live keys only.
  std::map<ir::TensorId, BufferId> all_keys_;

  friend ScheduleDraft heddle::lower::schedule_statements(const ir::TileProgram&, const Target&);
  void find_foldable(const ir::Body& body);
};

/// Values that a Contract accumulates or a Store writes: their multiplication by a Row can move there.
void Scheduler::find_foldable(const ir::Body& statements) {
  for (const ir::Statement& statement : statements) {
    if (const auto* mma = std::get_if<ir::Mma>(&statement.op)) foldable_.insert(mma->accumulate);
    if (const auto* store = std::get_if<ir::Store>(&statement.op)) foldable_.insert(store->in);
    if (const auto* loop = std::get_if<ir::KeyLoop>(&statement.op)) find_foldable(loop->body);
  }
}

void Scheduler::find_live(const ir::Body& statements) {
  live_.clear();
  std::map<ValueId, ir::TensorId> tensors;
  for (const ir::Statement& statement : statements) {
    if (const auto* stage = std::get_if<ir::Stage>(&statement.op)) tensors[stage->out] = stage->tensor;
    const auto* mma = std::get_if<ir::Mma>(&statement.op);
    if (!mma || !mma->live) continue;
    const std::string name = info(mma->out).name;
    const int64_t keys = columns(Extent::StepKeys);
    live_.push_back({mma->live, mma, {buffer(name + ".flags", ir::BufferKind::Flags, keys),
                                      buffer(name + ".live", ir::BufferKind::Offsets, keys)}, tensors.at(mma->rhs)});
  }
}

const Scheduler::Live* Scheduler::sole_user(ValueId value) const {
  if (uses_[static_cast<size_t>(value)] != 1) return nullptr;
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const Live& live) { return live.user->lhs == value; });
  return found == live_.end() ? nullptr : &*found;
}

void Scheduler::store_live(ValueId value, const Live& live) {
  if (!flagged_.contains(live.keys.flags)) flag(live);
  sweep_->store_live(value, value, live.keys, live.tensor);
  compacted_.insert(value);
}

/// Full steps need nothing of the open pass but, at most, a maximum over a fresh Contract: give it that epilogue.
bool Scheduler::run_in_partial_steps_only() {
  const auto& loaded = sweep_->loaded();
  auto* source = out_->empty() || loaded.size() != 1 ? nullptr : std::get_if<ir::Contract>(&out_->back().op);
  if (!source || source->kind != ir::Contraction::OverDims || source->out != loaded.begin()->first) return false;
  const ValueId fresh = source->out;
  const ir::SweepReduce* maximum = nullptr;
  for (const ir::SweepOp& op : sweep_->sweep().ops) {
    const auto* reduce = std::get_if<ir::SweepReduce>(&op);
    if (!reduce) continue;
    if (maximum || reduce->reduction != ir::Reduction::Max) return false;
    maximum = reduce;
  }
  bool any_map = false;
  for (const auto& [value, local] : sweep_->defined()) {
    if (sweep_->identity(value) != fresh) return false;
    any_map = true;
  }
  std::vector<ValueId> results;
  for (const auto& [value, local] : sweep_->defined()) {
    if (used_later(value)) results.push_back(value);
  }
  if (any_map && (used_later(fresh) || results.size() != 1)) return false;  // its unmasked values are still needed
  if (maximum) source->column_max = maximum->row;
  if (!any_map) {
    sweep_.reset();
    return true;
  }
  sweep_->drop_reductions_of_full_steps();
  const Live* live = sole_user(results[0]);
  if (live) {
    store_live(results[0], *live);
  } else {
    sweep_->store(results[0], results[0]);
  }
  source->out = results[0];  // one buffer for both: full steps leave it as it is
  return true;
}

void Scheduler::store_results() {
  const std::map<ValueId, int> defined = sweep_->defined();
  for (const auto& [value, local] : defined) {
    if (!used_later(value)) continue;
    const Live* live = sole_user(value);
    const bool first = live && std::none_of(defined.begin(), defined.end(), [&](const auto& other) { return compacted_.contains(other.first); });
    if (first) {
      store_live(value, *live);
    } else {
      sweep_->store(value, value);
    }
  }
}

void Scheduler::flush() {
  if (sweep_) {
    const bool partial_only = sweep_->columns() == Extent::StepKeys && run_in_partial_steps_only();
    if (!partial_only) store_results();
    if (sweep_) {
      ir::Sweep sweep = sweep_->sweep();
      if (partial_only) {  // the pass reads and writes the buffer of its result
        const BufferId home = std::get<ir::SweepStore>(sweep.ops.back()).matrix;
        for (ir::SweepOp& op : sweep.ops) {
          auto* load = std::get_if<ir::SweepLoad>(&op);
          if (load && !load->row) load->buffer = home;
        }
      }
      emit(std::move(sweep));
    }
    sweep_.reset();
  }
  out_->insert(out_->end(), after_.begin(), after_.end());
  after_.clear();
  waiting_.clear();
}

BufferId Scheduler::all_keys(ir::TensorId tensor) {
  const auto found = all_keys_.find(tensor);
  if (found != all_keys_.end()) return found->second;
  const BufferId list = buffer(tensor == ir::TensorId::V ? "keys.v" : "keys.k", ir::BufferKind::Offsets, columns(Extent::StepKeys));
  lists_.push_back({ir::ListKeys{list, tensor}});
  return all_keys_[tensor] = list;
}

/// Puts the rows that the contract reads where it finds them.
void Scheduler::stage_rows(ir::Contract& contract, ir::Element element) {
  const ir::TensorId tensor = contract.rhs.tensor;
  contract.rhs.staged = buffer(fmt::format("{}.staged", ir::text(tensor)), ir::BufferKind::Staged, columns(Extent::StepKeys));
  draft_.program.buffers.back().width = draft_.program.dims(tensor);
  draft_.program.buffers.back().element = element;
  emit(ir::StageRows{contract.rhs.staged, tensor, all_keys(tensor), contract.live});
}

/// Both operands as pairs of bfloat16: rows of K are that already, V and fragments are made it.
void Scheduler::take_pairs(ir::Contract& contract, ValueId lhs) {
  const auto query = tiles_.find(lhs);
  if (query != tiles_.end()) {
    contract.rhs.softmax_scale = contract.rhs.softmax_scale || query->second.softmax_scale;
    contract.rhs.factor *= query->second.factor;
    return;
  }
  const bool over_keys = contract.kind == ir::Contraction::OverKeys;
  if (!over_keys || contract.rhs.softmax_scale || contract.rhs.factor != 1) return stage_rows(contract, ir::Element::F32);
  const BufferId pairs = buffer(info(lhs).name + ".pairs", ir::BufferKind::Matrix, columns(Extent::StepKeys));
  draft_.program.buffers.back().element = ir::Element::Pairs;
  emit(ir::RoundPairs{pairs, contract.lhs, contract.live});
  contract.lhs = pairs;
  stage_rows(contract, ir::Element::Pairs);
}

void Scheduler::operator()(const ir::Mma& s) {
  flush();
  const auto rhs = tiles_.find(s.rhs);
  if (rhs == tiles_.end() || rhs->second.tensor == ir::TensorId::Q) {
    throw InternalError("cpu schedule", "the right operand of an mma is not a tile of K or V: " + info(s.rhs).name);
  }
  if (s.rhs_transposed && s.accumulate != kNoValue) {
    throw InternalError("cpu schedule", "an mma over dims accumulates: " + info(s.out).name);
  }
  ir::Contract contract;
  contract.kind = s.rhs_transposed ? ir::Contraction::OverDims : ir::Contraction::OverKeys;
  contract.out = s.out;
  contract.lhs = s.lhs;
  contract.rhs = {rhs->second.tensor, rhs->second.softmax_scale, rhs->second.factor};
  contract.tile_columns = register_columns(draft_.program);
  if (s.live) {
    const auto live = std::find_if(live_.begin(), live_.end(), [&](const Live& l) { return l.user == &s; });
    contract.live = live->keys;
    if (!compacted_.contains(s.lhs)) {  // its columns are needed elsewhere too, or nothing was computed on them: a pass of its own
      const bool sole = uses_[static_cast<size_t>(s.lhs)] == 1;  // then full steps leave it as it is
      if (!sole) contract.lhs = buffer(info(s.lhs).name + ".live", ir::BufferKind::Matrix, columns(Extent::StepKeys));
      sweep_.emplace(Extent::StepKeys);
      if (sole) sweep_->drop_reductions_of_full_steps();
      if (!flagged_.contains(live->keys.flags)) flag(*live);
      sweep_->store_live(contract.lhs, s.lhs, live->keys, live->tensor);
      emit(sweep_->sweep());
      sweep_.reset();
    }
  }
  consume(s.lhs), consume(s.rhs);
  if (s.accumulate != kNoValue) contract.accumulate = scaled(s.accumulate);
  if (draft_.program.multiplies_pairs()) {
    take_pairs(contract, s.lhs);
  } else if (program_.dtype != DType::Float32) {
    stage_rows(contract, ir::Element::F32);
  } else if (!s.rhs_transposed) {
    contract.all_keys = all_keys(rhs->second.tensor);
  }
  emit(contract);
}

void Scheduler::operator()(const ir::KeyLoop& s) {
  flush();
  ir::KeyLoopSchedule loop = {s.source, s.full, s.partial, s.predicate, steps(), {}};
  flagged_.clear();
  find_live(s.body);
  ir::ScheduledBody* outer = std::exchange(out_, &loop.body);
  body(s.body);
  out_ = outer;
  std::vector<CarriedBuffers>& carried = draft_.carried[out_->size()];
  for (const ir::Carried& c : s.carried) {
    consume(c.init), consume(c.yield);
    carried.push_back({c.init, c.inner, c.yield, c.out});
  }
  emit(std::move(loop));
}

}  // namespace

ScheduleDraft schedule_statements(const ir::TileProgram& program, const Target& target) {
  Scheduler scheduler(program, target);
  scheduler.find_foldable(program.body);
  return scheduler.run();
}

}  // namespace heddle::lower
