#include "src/codegen/llvm/emit_decode.h"

#include <cstddef>
#include <fmt/format.h>

#include "heddle/kernel_abi.h"
#include "src/codegen/llvm/decode_block.h"
#include "src/codegen/llvm/nest_walker.h"

namespace heddle::codegen {
namespace {

using llvm::Function;

class DecodeEmitter {
 public:
  DecodeEmitter(const ir::DecodeProgram& program, llvm::Module& module, const std::string& symbol)
      : program_(program), module_(module), symbol_(symbol), types_(module.getContext()) {}

  /// void symbol(args, first block, end block, scratch): the loop over blocks.
  void kernel() {
    Function* function = declare_function(module_, symbol_, Function::ExternalLinkage,
                                          {types_.getPtrTy(), types_.getInt64Ty(), types_.getInt64Ty(), types_.getPtrTy()});
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
    DecodeBlock context = enter_decode_block(b, program_, args, scratch, index);
    save_decode_block(b, program_, context);
    VectorMath math(b);
    DecodeStep whole = {b, program_, context, math, nullptr, nullptr, nullptr};
    emit_decode_prologue(whole);
    for (const ir::DecodePass& pass : program_.passes) {
      Function* function = step(pass);
      emit_decode_loop(b, program_, context, math, pass, [&](Value* first_key, Value* keys, Value* partial) {
        b.CreateCall(function, {args, scratch, first_key, keys, partial});
      });
    }
    emit_decode_epilogue(whole);
  }

  /// void step(args, scratch, first key, keys, partial). The keys are at least one.
  Function* step(const ir::DecodePass& pass) {
    Function* function = declare_function(module_, fmt::format("{}.step{}", symbol_, steps_++), Function::InternalLinkage,
                                          {types_.getPtrTy(), types_.getPtrTy(), types_.getInt64Ty(), types_.getInt64Ty(), types_.getInt1Ty()});
    IrBuilder b(module_, program_.target);
    b.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function));
    DecodeBlock context = reload_decode_block(b, program_, function->getArg(0), function->getArg(1));
    VectorMath math(b);
    DecodeStep current = {b, program_, context, math, function->getArg(2), function->getArg(3), function->getArg(4)};
    emit_decode_step(current, pass);
    b.CreateRetVoid();
    return function;
  }

  const ir::DecodeProgram& program_;
  llvm::Module& module_;
  const std::string& symbol_;
  llvm::IRBuilder<> types_;
  int steps_ = 0;
};

}  // namespace

void emit_decode_loop(IrBuilder& b, const ir::DecodeProgram& program, DecodeBlock& block, VectorMath& math, const ir::DecodePass& pass,
                      llvm::function_ref<void(Value* first_key, Value* keys, Value* partial)> step) {
  Value *part_keys = split_integer(b, block, offsetof(SplitArgs, part_keys)), *sk = block.name("Sk");
  Value *first = b.CreateMul(block.part, part_keys), *end = b.smaller(b.CreateAdd(first, part_keys), sk);
  if (pass.source == ir::LoopSource::Tested) {
    b.loop("steps", first, end, program.step_keys, {}, [&](Value* key, llvm::ArrayRef<Value*>) {
      DecodeStep tested = {b, program, block, math, key, b.smaller(b.CreateSub(end, key), b.constant(program.step_keys)), nullptr};
      const Values found = emit_decode_test(tested, pass.mask);
      b.when(found[0], [&] { step(key, tested.keys, b.CreateNot(found[1])); });
      return Values{};
    });
    return;
  }
  Value* tile = b.constant(program.tile_keys);
  const TileRange part = {b.CreateUDiv(first, tile), b.CreateUDiv(b.CreateAdd(end, b.constant(program.tile_keys - 1)), tile)};
  const auto walk = [&](const ir::LoopNest& nest, bool partial) {
    auto call = [&](Value* first_tile, Value* tiles) {
      Value* key = b.CreateMul(first_tile, tile);
      step(key, b.smaller(b.CreateMul(tiles, tile), b.CreateSub(sk, key)), b.getInt1(partial));
    };
    NestWalker(b, program.step_keys / program.tile_keys, call, part).walk(nest, block.uniform);
  };
  walk(pass.full, false);
  walk(pass.partial, true);
}

SourceUnit emit_kernel(const ir::DecodeProgram& program, const std::string& symbol) {
  SourceUnit unit;
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = std::make_unique<llvm::Module>(symbol, *unit.context);
  unit.symbol = symbol;
  unit.target = program.target;
  DecodeEmitter(program, *unit.module, symbol).kernel();
  verify(unit);
  return unit;
}

}  // namespace heddle::codegen
