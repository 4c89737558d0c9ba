// Emits the statements of a scheduled body into the current function.
#pragma once
#include <map>
#include <optional>
#include "src/codegen/llvm/block_context.h"

namespace heddle::codegen {

/// The step a loop body works on.
struct StepContext {
  Value *first_key, *keys;  ///< i64
  Value* partial;           ///< i1
  std::map<ir::BufferId, Value*> live_count;  ///< By offsets buffer: how many keys it lists.
};

/// The keys that a statement goes over: all keys of the step or, in partial steps, the live ones. `offsets`: of their rows.
struct KeyList { Value *offsets, *count; };
KeyList key_list(IrBuilder& b, const ir::ScheduledProgram& program, const BlockContext& block, const StepContext& step, ir::BufferId all_keys,
                 const ir::LiveKeys& live);

/// Emits one KeyLoopSchedule where it stands; the kernel emitter provides it, since steps are functions of their own.
using KeyLoopHook = llvm::function_ref<void(const ir::KeyLoopSchedule&)>;

class BodyEmitter {
 public:
  /// `step` is null outside of loops.
  BodyEmitter(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext* step, KeyLoopHook key_loop)
      : b_(b), program_(program), block_(block), step_(step), key_loop_(key_loop),
        math_(b) {}

  void emit(const ir::ScheduledBody& body);

  void operator()(const ir::PackRows& s);
  void operator()(const ir::FillBuffer& s);
  void operator()(const ir::CopyBuffer& s);
  void operator()(const ir::ListKeys& s);
  void operator()(const ir::StageRows& s);
  void operator()(const ir::RoundPairs& s);
  void operator()(const ir::RowMap& s);
  void operator()(const ir::Contract& s);
  void operator()(const ir::Sweep& s);
  void operator()(const ir::KeyLoopSchedule& s) { key_loop_(s); }
  void operator()(const ir::StoreColumns& s);
  void operator()(const ir::LoadColumns& s);
  void operator()(const ir::SoftmaxRows& s);
  void operator()(const ir::StoreRows& s);

 private:
  Value* address(ir::BufferId id) { return buffer_address(b_, program_, block_, id); }
  Matrix matrix_of(ir::BufferId id) { return matrix(b_, program_, block_, id); }
  VectorExpr expressions() { return VectorExpr(b_, math_, block_.uniform, block_.reals, block_.rows); }
  Value* factor(bool softmax_scale, double constant);
  void each_vector(const ir::Buffer& buffer, llvm::function_ref<void(Value* element)> make);
  void store_lse(ir::BufferId row);

  IrBuilder& b_;
  const ir::ScheduledProgram& program_;
  BlockContext& block_;
  StepContext* step_;
  KeyLoopHook key_loop_;
  VectorMath math_;
};

/// Statements that have files of their own.
void emit_stage_rows(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, const ir::StageRows& s);
void emit_round_pairs(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, const ir::RoundPairs& s);
void emit_contract(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, const ir::Contract& s,
                   Value* rhs_factor);
void emit_sweep(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext* step, VectorMath& math,
                const ir::Sweep& s);

}  // namespace heddle::codegen
