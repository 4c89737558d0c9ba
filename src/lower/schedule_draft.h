// A scheduled program under construction: each value still has a buffer of its own, and loops remember what they carry.
#pragma once
#include <map>
#include <vector>
#include "src/ir/scheduled_program.h"
#include "src/ir/tile_program.h"

namespace heddle::lower {

/// Buffers of one carried value of a loop, as ir::Carried.
struct CarriedBuffers { ir::BufferId init, inner, yield, out; };

struct ScheduleDraft {
  ir::ScheduledProgram program;                             ///< Buffers without offsets.
  std::map<size_t, std::vector<CarriedBuffers>> carried;    ///< By index of the loop in program.body.
};

/// Statements of a tile program as scheduled statements.
ScheduleDraft schedule_statements(const ir::TileProgram& program, const Target& target);

/// Lets values share buffers where lifetimes allow, makes loops update their state in place (or copies it), and lays scratch out.
ir::ScheduledProgram assign_buffers(ScheduleDraft draft);

}  // namespace heddle::lower
