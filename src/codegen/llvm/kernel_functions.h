// The functions that every CPU kernel is made of, whatever a block computes: the loop over blocks, and steps over keys.
#pragma once
#include "src/codegen/llvm/ir_builder.h"
#include "src/codegen/llvm/source_unit.h"

namespace heddle::codegen {

/// An empty module for one kernel.
SourceUnit new_unit(const Target& target, const std::string& symbol);

/// Defines the unit's AttentionKernel (heddle/kernel_abi.h): `block` is emitted once, in a loop over the blocks, `index` at a time.
void define_kernel(const SourceUnit& unit,
                   llvm::function_ref<void(IrBuilder& b, Value* args, Value* scratch, Value* index)> block);

/// What a step function is called with: i64 first key, i64 keys (at least one), i1 partial.
struct StepArguments { Value *args, *scratch, *first_key, *keys, *partial; };

/// Defines an internal function for a step.
llvm::Function* define_step(llvm::Module& module, const Target& target, const std::string& name,
                            llvm::function_ref<void(IrBuilder& b, const StepArguments& arguments)> body);
void call_step(IrBuilder& b, llvm::Function* step, const StepArguments& arguments);

}  // namespace heddle::codegen
