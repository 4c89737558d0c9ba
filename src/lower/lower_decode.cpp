#include "src/lower/lower_decode.h"

namespace heddle::lower {
namespace {

constexpr int64_t kAlignment = 64;

void choose_register_tiles(ir::DecodeProgram& program) {
  const bool wide = program.target.vector_registers() >= 32;
  program.row_tile = wide ? 4 : 2;
  program.value_rows = 2;
  program.value_vectors = wide ? 8 : 4;
}

void lay_out_scratch(ir::DecodeProgram& program) {
  int64_t end = 0;
  for (size_t i = 0; i < ir::kDecodeBuffers; ++i) {
    const int64_t bytes = program.needed(static_cast<ir::DecodeBuffer>(i));
    program.buffers[i] = {end, bytes};
    end += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  program.scratch_bytes = end;
}

ir::DecodePass lowered(const plan::PassPlan& pass) {
  const bool nest = pass.source == plan::TileSource::Nest;
  return {pass.mask, nest ? ir::LoopSource::Nest : ir::LoopSource::Tested, pass.full, pass.partial};
}

}  // namespace

ir::DecodeProgram lower_decode(const plan::KernelPlan& plan) {
  ir::DecodeProgram program;
  program.name = "attention_few_queries";
  program.target = plan.problem.target;
  program.dtype = plan.problem.dtype;
  program.head_dim = plan.problem.head_dim;
  program.value_dim = plan.problem.value_dim;
  program.block_rows = plan.tile_rows;
  program.tile_keys = plan.tile_keys;
  program.step_keys = plan.keys_per_step;
  program.score = plan.problem.score;
  for (const plan::PassPlan& pass : plan.passes) program.passes.push_back(lowered(pass));
  const ir::ParameterOrder order = plan.parameters ? *plan.parameters : ir::parameter_order(plan.problem);
  program.int_params = order.ints;
  program.real_params = order.reals;
  program.tables = ir::table_order(plan.problem);
  choose_register_tiles(program);
  lay_out_scratch(program);
  return program;
}

}  // namespace heddle::lower
