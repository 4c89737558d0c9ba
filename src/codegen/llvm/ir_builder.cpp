#include "src/codegen/llvm/ir_builder.h"

#include <llvm/IR/Metadata.h>

namespace heddle::codegen {

using llvm::BasicBlock;
using llvm::PHINode;

IrBuilder::IrBuilder(llvm::Module& module, const Target& target)
    : IRBuilder<>(module.getContext()), module_(module), target_(target), lanes_(target.lanes()), f32_(getFloatTy()) {}

llvm::FixedVectorType* IrBuilder::ints(unsigned bits) {
  return llvm::FixedVectorType::get(getIntNTy(bits), static_cast<unsigned>(lanes_));
}

llvm::Function* IrBuilder::function() { return GetInsertBlock()->getParent(); }

Value* IrBuilder::splat_real(double value) {
  return llvm::ConstantFP::get(f32s(), static_cast<double>(static_cast<float>(value)));
}

Value* IrBuilder::splat_int(int64_t value, unsigned bits) {
  return llvm::ConstantInt::get(ints(bits), static_cast<uint64_t>(value), true);
}

Value* IrBuilder::lane_numbers(unsigned bits) {
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (int lane = 0; lane < lanes_; ++lane) numbers.push_back(getIntN(bits, static_cast<uint64_t>(lane)));
  return llvm::ConstantVector::get(numbers);
}

Value* IrBuilder::load_vector(Value* address) {
  return CreateAlignedLoad(f32s(), address, llvm::Align(static_cast<uint64_t>(4 * lanes_)));
}

void IrBuilder::store_vector(Value* vector, Value* address) {
  CreateAlignedStore(vector, address, llvm::Align(static_cast<uint64_t>(4 * lanes_)));
}

llvm::MDNode* IrBuilder::no_unroll() {
  llvm::Metadata* disable = llvm::MDNode::get(getContext(), {llvm::MDString::get(getContext(), "llvm.loop.unroll.disable")});
  llvm::MDNode* node = llvm::MDNode::getDistinct(getContext(), {nullptr, disable});
  node->replaceOperandWith(0, node);
  return node;
}

Values IrBuilder::loop(const char* name, Value* first, Value* end, int64_t step, const Values& init, LoopBody body, Trips trips) {
  BasicBlock *before = GetInsertBlock(), *head = block(name), *after = block(llvm::Twine(name) + ".end");
  if (trips == Trips::AtLeastOne) {
    CreateBr(head);
  } else {
    CreateCondBr(CreateICmpSLT(first, end), head, after);
  }
  SetInsertPoint(head);
  PHINode* index = CreatePHI(first->getType(), 2);
  index->addIncoming(first, before);
  llvm::SmallVector<PHINode*, 16> phis;
  for (Value* value : init) {
    phis.push_back(CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
  }
  const Values next = body(index, Values(phis.begin(), phis.end()));
  Value* increased = CreateAdd(index, llvm::ConstantInt::get(first->getType(), static_cast<uint64_t>(step)), "", true, true);
  BasicBlock* latch = GetInsertBlock();
  CreateCondBr(CreateICmpSLT(increased, end), head, after)->setMetadata(llvm::LLVMContext::MD_loop, no_unroll());
  index->addIncoming(increased, latch);
  for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(next[i], latch);
  SetInsertPoint(after);
  if (trips == Trips::AtLeastOne) return next;
  Values result;
  for (size_t i = 0; i < init.size(); ++i) {
    PHINode* phi = CreatePHI(init[i]->getType(), 2);
    phi->addIncoming(init[i], before);
    phi->addIncoming(next[i], latch);
    result.push_back(phi);
  }
  return result;
}

void IrBuilder::when(Value* condition, llvm::function_ref<void()> then) {
  BasicBlock *inside = block("then"), *after = block("join");
  CreateCondBr(condition, inside, after);
  SetInsertPoint(inside);
  then();
  CreateBr(after);
  SetInsertPoint(after);
}

Values IrBuilder::either(Value* condition, llvm::function_ref<Values()> then, llvm::function_ref<Values()> otherwise) {
  BasicBlock *yes = block("then"), *no = block("else"), *after = block("join");
  CreateCondBr(condition, yes, no);
  SetInsertPoint(yes);
  const Values a = then();
  BasicBlock* from_yes = GetInsertBlock();
  CreateBr(after);
  SetInsertPoint(no);
  const Values b = otherwise();
  BasicBlock* from_no = GetInsertBlock();
  CreateBr(after);
  SetInsertPoint(after);
  Values result;
  for (size_t i = 0; i < a.size(); ++i) {
    PHINode* phi = CreatePHI(a[i]->getType(), 2);
    phi->addIncoming(a[i], from_yes);
    phi->addIncoming(b[i], from_no);
    result.push_back(phi);
  }
  return result;
}

}  // namespace heddle::codegen
