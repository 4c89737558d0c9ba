#include "src/codegen/llvm/kernel_functions.h"

namespace heddle::codegen {
namespace {

using llvm::Function;

/// A function without result whose first parameter is read only.
Function* declare(llvm::Module& module, const std::string& name, Function::LinkageTypes linkage, llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), parameters, false);
  Function* function = Function::Create(type, linkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("frame-pointer", "all");  // so that profilers and debuggers see the callers
  function->addFnAttr("no-builtins");           // so that no loop becomes a call of memset
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  return function;
}

void start(IrBuilder& b, Function* function) {
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
}

}  // namespace

SourceUnit new_unit(const Target& target, const std::string& symbol) {
  SourceUnit unit;
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = std::make_unique<llvm::Module>(symbol, *unit.context);
  unit.symbol = symbol;
  unit.target = target;
  return unit;
}

void define_kernel(const SourceUnit& unit, llvm::function_ref<void(IrBuilder&, Value*, Value*, Value*)> block) {
  IrBuilder b(*unit.module, unit.target);
  Function* function = declare(*unit.module, unit.symbol, Function::ExternalLinkage,
                               {b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty(), b.getPtrTy()});
  Value *args = function->getArg(0), *first = function->getArg(1), *end = function->getArg(2), *scratch = function->getArg(3);
  function->addParamAttr(3, llvm::Attribute::NoAlias);
  start(b, function);
  b.loop("block", first, end, 1, {}, [&](Value* index, llvm::ArrayRef<Value*>) {
    block(b, args, scratch, index);
    return Values{};
  });
  b.CreateRetVoid();
}

Function* define_step(llvm::Module& module, const Target& target, const std::string& name,
                      llvm::function_ref<void(IrBuilder&, const StepArguments&)> body) {
  IrBuilder b(module, target);
  Function* function = declare(module, name, Function::InternalLinkage,
                               {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty(), b.getInt1Ty()});
  start(b, function);
  body(b, {function->getArg(0), function->getArg(1), function->getArg(2), function->getArg(3), function->getArg(4)});
  b.CreateRetVoid();
  return function;
}

void call_step(IrBuilder& b, Function* step, const StepArguments& a) {
  b.CreateCall(step, {a.args, a.scratch, a.first_key, a.keys, a.partial});
}

}  // namespace heddle::codegen
