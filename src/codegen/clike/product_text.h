// Matrix products and the moves of operands and results that go with a matrix unit, as text.
#pragma once
#include "src/codegen/clike/names.h"

namespace heddle::codegen::clike {

/// How one matrix unit is written: fragments as ir::fragment_layout lays them out.
class ProductText {
 public:
  virtual ~ProductText() = default;
  /// out = lhs . rhs^T over the head dim: Q and K as staged.
  virtual void with_keys(TextWriter& out, const Names& names, const ir::Mma& mma) const = 0;
  /// out += lhs . rhs over the keys of the step: a fragment and V as staged. With `live`, in partial steps keys whose bit in `live` is off
  /// take no part.
  virtual void with_values(TextWriter& out, const Names& names, const ir::Mma& mma) const = 0;
  /// Existing rows of a fragment to O.
  virtual void store(TextWriter& out, const Names& names, ir::ValueId value) const = 0;
  /// Declarations of a lane's place, from `lane`: `lane_row`, the first row it holds, and `lane_column`, its first column of a chunk.
  virtual void place(TextWriter& out) const = 0;
  /// Operands of the whole block that lanes keep: their declarations, and how they are loaded.
  virtual void fields(TextWriter&, const Names&) const {}
  virtual void begin(TextWriter&, const Names&) const {}
};

const ProductText& product_text(ir::MatrixUnit unit);

/// Address of a chunk of 16 bytes in a staged tile: a call of the function that chunk_functions() writes.
std::string chunk_address(const ir::SharedTile& tile, const std::string& base, const std::string& row, const std::string& chunk);
void chunk_functions(TextWriter& out, const ir::GpuProgram& program);
/// The base address of a staged tile in a step (or of the only buffer of Q).
std::string tile_base(const ir::SharedTile& tile);

}  // namespace heddle::codegen::clike
