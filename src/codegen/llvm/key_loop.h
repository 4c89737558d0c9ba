// Walks the key tiles of a row block and calls the loop's step: by the closed loops of its nests, or by testing every tile.
#pragma once
#include "src/codegen/llvm/block_context.h"

namespace heddle::codegen {

/// Emits one step: `keys` keys from `first_key`, of a partial or a full class.
using StepCall = llvm::function_ref<void(Value* first_key, Value* keys, Value* partial)>;

void emit_key_loop(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, VectorMath& math,
                   const ir::KeyLoopSchedule& loop, StepCall step);

}  // namespace heddle::codegen
