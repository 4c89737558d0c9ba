#include "test/emulator/emulator.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>
#include <stdexcept>

#include "test/emulator/machine.h"

namespace heddle::emulator {

namespace {

int product(const std::array<int, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/// Arguments at the offsets of the parameters.
std::vector<uint8_t> lay_out(const Program& program, const Arguments& arguments) {
  const auto& values = arguments.values();
  if (values.size() != program.parameters.size()) {
    throw std::invalid_argument(
        fmt::format("{} takes {} parameters, not {}", program.name, program.parameters.size(), values.size()));
  }
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    const Parameter& parameter = program.parameters[i];
    if (static_cast<int>(values[i].size()) != parameter.bytes) {
      throw std::invalid_argument(
          fmt::format("parameter {} of {} has {} bytes, not {}", i, program.name, parameter.bytes, values[i].size()));
    }
    bytes.resize(parameter.offset + parameter.bytes);
    std::memcpy(bytes.data() + parameter.offset, values[i].data(), parameter.bytes);
  }
  return bytes;
}

void check_shape(const Program& program, const Launch& launch) {
  const int threads = product(launch.block);
  if (threads <= 0 || threads > 1024 || threads % kWarp != 0) {
    throw std::invalid_argument(fmt::format("{} threads a block: not a multiple of {} up to 1024", threads, kWarp));
  }
  if (product(launch.grid) <= 0) throw std::invalid_argument(fmt::format("{} is launched with an empty grid", program.name));
}

uint32_t special_value(Special kind, const Launch& launch, const std::array<int, 3>& block, int thread) {
  const auto& shape = launch.block;
  switch (kind) {
    case Special::ThreadX:
      return thread % shape[0];
    case Special::ThreadY:
      return thread / shape[0] % shape[1];
    case Special::ThreadZ:
      return thread / (shape[0] * shape[1]);
    case Special::BlockX:
      return block[0];
    case Special::BlockY:
      return block[1];
    case Special::BlockZ:
      return block[2];
    case Special::ThreadsX:
      return shape[0];
    case Special::ThreadsY:
      return shape[1];
    case Special::ThreadsZ:
      return shape[2];
    case Special::GridX:
      return launch.grid[0];
    case Special::GridY:
      return launch.grid[1];
    case Special::GridZ:
      return launch.grid[2];
    case Special::Lane:
      break;
  }
  return thread % kWarp;
}

}  // namespace

Outcome run(const Program& program, const Launch& launch, GlobalMemory& memory) {
  check_shape(program, launch);
  const std::vector<uint8_t> parameters = lay_out(program, launch.arguments);
  const int threads = product(launch.block), blocks = product(launch.grid);
  Outcome outcome;
  outcome.counts.resize(program.code.size());
  SharedMemory shared(outcome.findings);
  memory.begin(outcome.findings, threads);
  Machine machine({shared, memory, outcome.findings, parameters, outcome.counts}, program, threads, launch.most_instructions);
  for (int linear = 0; linear < blocks; ++linear) {
    const std::array<int, 3> block = {linear % launch.grid[0], linear / launch.grid[0] % launch.grid[1],
                                      linear / (launch.grid[0] * launch.grid[1])};
    outcome.findings.block = block;
    memory.begin_block(linear);
    shared.begin_block(program.static_shared_bytes + launch.dynamic_shared_bytes, threads, kWarp);
    machine.run_block([&](Special kind, int thread) { return special_value(kind, launch, block, thread); });
    shared.end_block();
  }
  memory.end();
  outcome.executed = machine.executed();
  return outcome;
}

InstructionCount Outcome::sum(const Program& program, std::string_view prefix, int first_line, int last_line) const {
  InstructionCount total;
  for (size_t i = 0; i < counts.size(); ++i) {
    const int line = program.code[i].line;
    if (line < first_line || line > last_line || !program.opcodes[i].starts_with(prefix)) continue;
    total.executed += counts[i].executed;
    total.banks += counts[i].banks;
    total.sectors += counts[i].sectors;
  }
  return total;
}

}  // namespace heddle::emulator
