#include "src/lower/schedule_cpu.h"

#include <algorithm>
#include <bit>

#include "src/lower/schedule_draft.h"

namespace heddle::lower {

int register_tile_columns(const Target& target, int vectors) {
  const int most = (target.vector_registers() - 1 - vectors) / vectors;
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(1, most))));  // powers of two divide tiles and head dims
}

ir::ScheduledProgram schedule_cpu(const ir::TileProgram& program, const Target& target) {
  ir::ScheduledProgram scheduled = assign_buffers(schedule_statements(program, target));
  ir::verify(scheduled);
  return scheduled;
}

}  // namespace heddle::lower
