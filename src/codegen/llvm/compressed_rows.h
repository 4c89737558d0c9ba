// Compressed rows of scores and probabilities (AttentionArgs::values): moved between them and scratch, and normalised in place.
#pragma once
#include "src/codegen/llvm/body_emitter.h"

namespace heddle::codegen {

/// Full steps move whole tiles through transposes; partial ones scatter or gather the allowed pairs of one key at a time.
void store_columns(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, VectorMath& math,
                   const ir::StoreColumns& s);
void load_columns(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, StepContext& step, VectorMath& math,
                  const ir::LoadColumns& s);
/// Row by row, with values in the lanes.
void softmax_rows(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, VectorMath& math, const ir::SoftmaxRows& s);

}  // namespace heddle::codegen
