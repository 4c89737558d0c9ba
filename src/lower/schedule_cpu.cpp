#include "src/lower/schedule_cpu.h"

#include "src/lower/schedule_draft.h"

namespace heddle::lower {

ir::ScheduledProgram schedule_cpu(const ir::TileProgram& program, const Target& target) {
  ir::ScheduledProgram scheduled = assign_buffers(schedule_statements(program, target));
  ir::verify(scheduled);
  return scheduled;
}

}  // namespace heddle::lower
