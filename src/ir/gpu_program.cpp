#include "src/ir/gpu_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/error.h"

namespace heddle::ir {
namespace {

[[noreturn]] void fail(const std::string& rule) { throw InternalError("gpu program", rule); }

const char* text(MatrixUnit unit) {
  switch (unit) {
    case MatrixUnit::MmaSync: return "mma.sync 16x8x16";
    case MatrixUnit::Mfma: return "mfma 16x16x16";
    case MatrixUnit::Fma: break;
  }
  return "multiply-add";
}

/// Reads of a statement, by value.
std::vector<ValueId> reads(const Statement& statement) {
  if (const auto* mma = std::get_if<Mma>(&statement.op)) return {mma->lhs, mma->rhs, mma->accumulate};
  if (const auto* map = std::get_if<Map>(&statement.op)) return map->inputs;
  if (const auto* reduce = std::get_if<RowReduce>(&statement.op)) return {reduce->in};
  if (const auto* store = std::get_if<Store>(&statement.op)) return {store->in};
  return {};
}

ValueId written(const Statement& statement) {
  if (const auto* fill = std::get_if<Fill>(&statement.op)) return fill->out;
  if (const auto* mma = std::get_if<Mma>(&statement.op)) return mma->out;
  if (const auto* map = std::get_if<Map>(&statement.op)) return map->out;
  if (const auto* reduce = std::get_if<RowReduce>(&statement.op)) return reduce->out;
  return kNoValue;
}

/// Follows which value each register array holds.
class HomeCheck {
 public:
  explicit HomeCheck(const GpuProgram& program) : program_(program), holds_(program.registers.size(), kNoValue) {}

  void body(const Body& statements) {
    for (const Statement& statement : statements) {
      if (const auto* loop = std::get_if<KeyLoop>(&statement.op)) {
        enter(*loop);
        body(loop->body);
        leave(*loop);
        continue;
      }
      for (ValueId value : reads(statement)) read(value);
      if (const ValueId out = written(statement); out != kNoValue) holds_[home(out)] = out;
    }
  }

 private:
  size_t home(ValueId value) const {
    const auto found = program_.home.find(value);
    if (found == program_.home.end()) fail("'" + program_.tile.values.at(static_cast<size_t>(value)).name + "' has no home");
    return static_cast<size_t>(found->second);
  }
  void read(ValueId value) const {
    if (value == kNoValue || program_.tile.values.at(static_cast<size_t>(value)).kind == ValueKind::Tile) return;
    if (holds_[home(value)] != value) fail("'" + program_.tile.values.at(static_cast<size_t>(value)).name + "' is overwritten before it is read");
  }
  void enter(const KeyLoop& loop) {
    for (const Carried& c : loop.carried) {
      read(c.init);
      if (home(c.inner) != home(c.init) || home(c.out) != home(c.init)) fail("a carried value changes its home");
      holds_[home(c.inner)] = c.inner;
    }
  }
  void leave(const KeyLoop& loop) {
    for (const Carried& c : loop.carried) read(c.yield);
    for (const Carried& c : loop.carried) {
      for (const Carried& other : loop.carried) {
        if (&c != &other && home(other.yield) == home(c.inner)) fail("carried values exchange their homes");
      }
      holds_[home(c.inner)] = c.out;
    }
  }

  const GpuProgram& program_;
  std::vector<ValueId> holds_;
};

}  // namespace

FragmentLayout fragment_layout(MatrixUnit unit) {
  switch (unit) {
    case MatrixUnit::MmaSync: return {32, 2, 8, 8, {0, 0, 1, 1}, {0, 1, 0, 1}, {1, 2}, {4, 8, 16}};
    case MatrixUnit::Mfma: return {64, 1, 16, 16, {0, 0, 0, 0}, {0, 1, 2, 3}, {16, 32}, {1, 2, 4, 8}};
    case MatrixUnit::Fma: break;
  }
  return {32, 4, 4, 8, {0, 1, 2, 3}, {0, 0, 0, 0}, {1, 2, 4}, {8, 16}};
}

const SharedTile& GpuProgram::staged(ValueId value) const {
  const auto found = std::find_if(tiles.begin(), tiles.end(), [&](const SharedTile& staged) { return staged.value == value; });
  if (found == tiles.end()) fail("a tile is not staged");
  return *found;
}

int64_t GpuProgram::columns(Extent extent) const {
  switch (extent) {
    case Extent::StepKeys: return tile.tile_keys;
    case Extent::HeadDim: return tile.head_dim;
    case Extent::ValueDim: return tile.value_dim;
    default: return 1;
  }
}

std::string print(const GpuProgram& program) {
  std::string out = fmt::format("{} {}: {} warps of 16 rows, {}, {} bytes of shared memory\n", program.target.to_string(),
                                to_string(program.dtype), program.warps, text(program.unit), program.shared_bytes);
  for (const SharedTile& tile : program.tiles) {
    out += fmt::format("  shared {}: {} x [{} x {}] rows of {} bytes at {}{}\n", text(tile.tensor), tile.stages, tile.rows, tile.dims,
                       tile.row_bytes, tile.offset, tile.swizzled ? ", swizzled" : "");
  }
  for (size_t i = 0; i < program.registers.size(); ++i) {
    out += fmt::format("  registers {}:", program.registers[i].name);
    for (const auto& [value, home] : program.home) {
      if (home == static_cast<int>(i)) out += " " + program.tile.values[static_cast<size_t>(value)].name;
    }
    out += "\n";
  }
  return out + print(program.tile);
}

void verify(const GpuProgram& program) {
  verify(program.tile);
  if (program.warps * 16 != program.tile.tile_rows) fail("warps of 16 rows do not own all rows");
  if (program.layout.rows * program.layout.row_step != 16 && program.unit != MatrixUnit::Fma) fail("a layout has not 16 rows");
  for (const auto& [value, home] : program.home) {
    const ValueInfo& info = program.tile.values.at(static_cast<size_t>(value));
    const RegisterArray& place = program.registers.at(static_cast<size_t>(home));
    if (info.kind != place.kind || (info.kind == ValueKind::Fragment && info.cols != place.columns)) fail("'" + info.name + "' does not fit its home");
  }
  for (const SharedTile& tile : program.tiles) {
    if (tile.offset % 1024 != 0 || tile.row_bytes % 16 != 0) fail("a staged tile is not aligned");
    if (tile.offset + tile.stages * tile.bytes() > program.shared_bytes) fail("a staged tile ends outside shared memory");
    for (const SharedTile& other : program.tiles) {
      const bool apart = tile.offset + tile.stages * tile.bytes() <= other.offset || other.offset + other.stages * other.bytes() <= tile.offset;
      if (&tile != &other && !apart) fail("staged tiles overlap");
    }
  }
  if (program.shared_bytes > program.target.shared_bytes()) fail("a block needs more shared memory than the target has");
  HomeCheck(program).body(program.tile.body);
}

}  // namespace heddle::ir
