#include "src/codegen/llvm/emit_kernel.h"

#include <fmt/format.h>

#include "src/codegen/llvm/body_emitter.h"
#include "src/codegen/llvm/key_loop.h"

namespace heddle::codegen {
namespace {

using llvm::Function;

class KernelEmitter {
 public:
  KernelEmitter(const ir::ScheduledProgram& program, llvm::Module& module, const std::string& symbol)
      : program_(program), module_(module), symbol_(symbol), types_(module.getContext()) {}

  /// void symbol(args, first block, end block, scratch): the loop over blocks.
  void kernel() {
    Function* function = declare_function(module_, symbol_, Function::ExternalLinkage, {types_.getPtrTy(), types_.getInt64Ty(), types_.getInt64Ty(), types_.getPtrTy()});
    function->addParamAttr(3, llvm::Attribute::NoAlias);
    IrBuilder b(module_, program_.target);
    b.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function));
    b.loop("block", function->getArg(1), function->getArg(2), 1, {}, [&](Value* index, llvm::ArrayRef<Value*>) {
      block(b, function->getArg(0), function->getArg(3), index);
      return Values{};
    });
    b.CreateRetVoid();
  }

 private:
  void block(IrBuilder& b, Value* args, Value* scratch, Value* index) {
    BlockContext context = enter_block(b, program_, args, scratch, index);
    save_block(b, program_, context);
    VectorMath math(b);
    auto key_loop = [&](const ir::KeyLoopSchedule& loop) {
      Function* function = step(loop);
      emit_key_loop(b, program_, context, math, loop, [&](Value* first_key, Value* keys, Value* partial) {
        b.CreateCall(function, {args, scratch, first_key, keys, partial});
      });
    };
    BodyEmitter(b, program_, context, nullptr, key_loop).emit(program_.body);
  }

  /// void step(args, scratch, first key, keys, partial): a loop body. The keys are at least one.
  Function* step(const ir::KeyLoopSchedule& loop) {
    Function* function = declare_function(module_, fmt::format("{}.step{}", symbol_, steps_++), Function::InternalLinkage,
                                 {types_.getPtrTy(), types_.getPtrTy(), types_.getInt64Ty(), types_.getInt64Ty(), types_.getInt1Ty()});
    IrBuilder b(module_, program_.target);
    b.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function));
    BlockContext context = reload_block(b, program_, function->getArg(0), function->getArg(1));
    StepContext current = {function->getArg(2), function->getArg(3), function->getArg(4), {}};
    auto no_loops = [](const ir::KeyLoopSchedule&) {};
    BodyEmitter(b, program_, context, &current, no_loops).emit(loop.body);
    b.CreateRetVoid();
    return function;
  }

  const ir::ScheduledProgram& program_;
  llvm::Module& module_;
  const std::string& symbol_;
  llvm::IRBuilder<> types_;
  int steps_ = 0;
};

}  // namespace

SourceUnit emit_kernel(const ir::ScheduledProgram& program, const std::string& symbol) {
  SourceUnit unit;
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = std::make_unique<llvm::Module>(symbol, *unit.context);
  unit.symbol = symbol;
  unit.target = program.target;
  KernelEmitter(program, *unit.module, symbol).kernel();
  verify(unit);
  return unit;
}

}  // namespace heddle::codegen
