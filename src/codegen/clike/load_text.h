// How staged tiles get into shared memory, as text.
#pragma once
#include "src/codegen/clike/text_writer.h"
#include "src/ir/gpu_program.h"

namespace heddle::codegen::clike {

/// One function a shape of staged tiles: load_RxC(tile, rows, stride, count), rows from `count` on become 0.
void load_functions(TextWriter& out, const ir::GpuProgram& program);
/// In begin(): the block's rows of Q start their way.
void load_queries(TextWriter& out, const ir::GpuProgram& program);
/// The member load_keys(kb, stage): a tile of K and of V starts its way.
void load_keys(TextWriter& out, const ir::GpuProgram& program);

}  // namespace heddle::codegen::clike
