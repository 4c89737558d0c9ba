#include "src/codegen/llvm/emit_decode.h"

#include <cstddef>
#include <fmt/format.h>

#include "heddle/kernel_abi.h"
#include "src/codegen/llvm/decode_block.h"
#include "src/codegen/llvm/kernel_functions.h"
#include "src/codegen/llvm/nest_walker.h"

namespace heddle::codegen {
namespace {

class DecodeEmitter {
 public:
  DecodeEmitter(const ir::DecodeProgram& program, const SourceUnit& unit) : program_(program), unit_(unit) {}

  void block(IrBuilder& b, Value* args, Value* scratch, Value* index) {
    DecodeBlock context = enter_decode_block(b, program_, args, scratch, index);
    save_decode_block(b, program_, context);
    VectorMath math(b);
    DecodeStep whole = {b, program_, context, math, nullptr, nullptr, nullptr};
    emit_decode_prologue(whole);
    for (const ir::DecodePass& pass : program_.passes) {
      llvm::Function* function = step(pass);
      emit_decode_loop(b, program_, context, math, pass, [&](Value* first_key, Value* keys, Value* partial) {
        call_step(b, function, {args, scratch, first_key, keys, partial});
      });
    }
    emit_decode_epilogue(whole);
  }

 private:
  llvm::Function* step(const ir::DecodePass& pass) {
    const std::string name = fmt::format("{}.step{}", unit_.symbol, steps_++);
    return define_step(*unit_.module, unit_.target, name, [&](IrBuilder& b, const StepArguments& given) {
      DecodeBlock context = reload_decode_block(b, program_, given.args, given.scratch);
      VectorMath math(b);
      DecodeStep current = {b, program_, context, math, given.first_key, given.keys, given.partial};
      emit_decode_step(current, pass);
    });
  }

  const ir::DecodeProgram& program_;
  const SourceUnit& unit_;
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
  SourceUnit unit = new_unit(program.target, symbol);
  DecodeEmitter emitter(program, unit);
  define_kernel(unit, [&](IrBuilder& b, Value* args, Value* scratch, Value* index) { emitter.block(b, args, scratch, index); });
  verify(unit);
  return unit;
}

}  // namespace heddle::codegen
