// The dialects of emitted text: what differs between CUDA and HIP beside preludes and matrix units.
#pragma once
#include <cstdint>
#include <string>
#include "src/ir/gpu_program.h"

namespace heddle::codegen::clike {

struct Dialect {
  const char* copy;         ///< Moves 16 bytes from global to shared memory.
  bool background;          ///< Copies run in the background: tiles are fetched while the ones before are computed.
  bool stages_queries;      ///< Q goes through shared memory.
  bool dynamic_shared;      ///< The launch says how much shared memory a block has; else the text does.
};
const Dialect& dialect(GpuVendor vendor);

/// The prelude of a target, as it stands in front of a kernel whose blocks have `shared_bytes` of shared memory.
std::string prelude(const GpuTarget& target, int64_t shared_bytes);

}  // namespace heddle::codegen::clike
