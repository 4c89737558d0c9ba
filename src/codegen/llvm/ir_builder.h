// LLVM IR construction for vector kernels: loops with carried values, branches, and vectors whose lanes are query rows.
//
// Values are built in SSA form at once (no allocas), so no IR pass has to run before code generation.
#pragma once
#include <cstdint>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <string>

#include "heddle/target.h"

namespace heddle::codegen {

using llvm::Value;
using Values = llvm::SmallVector<Value*, 16>;

/// Whether a loop's body runs at least once whatever its bounds look like.
enum class Trips { Maybe, AtLeastOne };

class IrBuilder : public llvm::IRBuilder<> {
 public:
  /// Vectors and fused operations are the target's.
  IrBuilder(llvm::Module& module, const Target& target);

  llvm::Module& module() const { return module_; }
  const Target& target() const { return target_; }
  int lanes() const { return lanes_; }
  llvm::FixedVectorType* f32s() const { return llvm::FixedVectorType::get(f32_, static_cast<unsigned>(lanes_)); }
  llvm::FixedVectorType* ints(unsigned bits);                ///< lanes() integers of `bits` bits.
  llvm::Function* function();                                ///< The function being built.

  Value* constant(int64_t value) { return getInt64(static_cast<uint64_t>(value)); }
  Value* splat(Value* scalar) { return CreateVectorSplat(static_cast<unsigned>(lanes_), scalar); }
  Value* splat_real(double value);                           ///< f32 vector.
  Value* splat_int(int64_t value, unsigned bits);
  Value* lane_numbers(unsigned bits);                        ///< 0, 1, 2, ...
  /// Address of element `index` of an array of `type`.
  Value* element(llvm::Type* type, Value* base, Value* index) { return CreateInBoundsGEP(type, base, index); }
  Value* element(llvm::Type* type, Value* base, int64_t index) { return CreateInBoundsGEP(type, base, constant(index)); }
  Value* load_vector(Value* address);                        ///< Aligned f32 vector.
  void store_vector(Value* vector, Value* address);

  /// a * b + c, rounded once where the target fuses, else twice.
  Value* fma(Value* a, Value* b, Value* c) {
    return target_.fuses() ? CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c}) : CreateFAdd(CreateFMul(a, b), c);
  }
  Value* smaller(Value* a, Value* b) { return CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }  ///< Of integers.
  Value* larger(Value* a, Value* b) { return CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); }
  /// The larger real; `old` when the candidate is NaN. One instruction on x86.
  Value* maximum(Value* candidate, Value* old) { return CreateSelect(CreateFCmpOGT(candidate, old), candidate, old); }

  using LoopBody = llvm::function_ref<Values(Value* index, llvm::ArrayRef<Value*> carried)>;
  /// for (i = first; i < end; i += step) carried = body(i, carried). Returns the final carried values.
  Values loop(const char* name, Value* first, Value* end, int64_t step, const Values& init, LoopBody body,
              Trips trips = Trips::Maybe);
  void when(Value* condition, llvm::function_ref<void()> then);
  /// Values of whichever side ran.
  Values either(Value* condition, llvm::function_ref<Values()> then, llvm::function_ref<Values()> otherwise);

 private:
  llvm::MDNode* no_unroll();
  llvm::BasicBlock* block(const llvm::Twine& name) { return llvm::BasicBlock::Create(getContext(), name, function()); }

  llvm::Module& module_;
  Target target_;
  int lanes_;
  llvm::Type* f32_;
};

}  // namespace heddle::codegen
