#include "src/codegen/llvm/emit_kernel.h"

#include <fmt/format.h>

#include "src/codegen/llvm/body_emitter.h"
#include "src/codegen/llvm/kernel_functions.h"
#include "src/codegen/llvm/key_loop.h"

namespace heddle::codegen {
namespace {

class KernelEmitter {
 public:
  KernelEmitter(const ir::ScheduledProgram& program, const SourceUnit& unit) : program_(program), unit_(unit) {}

  void block(IrBuilder& b, Value* args, Value* scratch, Value* index) {
    BlockContext context = enter_block(b, program_, args, scratch, index);
    save_block(b, program_, context);
    VectorMath math(b);
    auto key_loop = [&](const ir::KeyLoopSchedule& loop) {
      llvm::Function* function = step(loop);
      emit_key_loop(b, program_, context, math, loop, [&](Value* first_key, Value* keys, Value* partial) {
        call_step(b, function, {args, scratch, first_key, keys, partial});
      });
    };
    BodyEmitter(b, program_, context, nullptr, key_loop).emit(program_.body);
  }

 private:
  /// A loop body as a function.
  llvm::Function* step(const ir::KeyLoopSchedule& loop) {
    const std::string name = fmt::format("{}.step{}", unit_.symbol, steps_++);
    return define_step(*unit_.module, unit_.target, name, [&](IrBuilder& b, const StepArguments& given) {
      BlockContext context = reload_block(b, program_, given.args, given.scratch);
      StepContext current = {given.first_key, given.keys, given.partial, {}};
      auto no_loops = [](const ir::KeyLoopSchedule&) {};
      BodyEmitter(b, program_, context, &current, no_loops).emit(loop.body);
    });
  }

  const ir::ScheduledProgram& program_;
  const SourceUnit& unit_;
  int steps_ = 0;
};

}  // namespace

SourceUnit emit_kernel(const ir::ScheduledProgram& program, const std::string& symbol) {
  SourceUnit unit = new_unit(program.target, symbol);
  KernelEmitter emitter(program, unit);
  define_kernel(unit, [&](IrBuilder& b, Value* args, Value* scratch, Value* index) { emitter.block(b, args, scratch, index); });
  verify(unit);
  return unit;
}

}  // namespace heddle::codegen
