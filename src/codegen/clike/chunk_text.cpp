#include <set>

#include "src/codegen/clike/product_text.h"

namespace heddle::codegen::clike {
namespace {

std::string chunk_function(const ir::SharedTile& tile) { return fmt::format("chunk_of_{}", tile.row_bytes); }

}  // namespace

std::string chunk_address(const ir::SharedTile& tile, const std::string& base, const std::string& row, const std::string& chunk) {
  return fmt::format("{}({}, {}, {})", chunk_function(tile), base, row, chunk);
}

void chunk_functions(TextWriter& out, const ir::GpuProgram& program) {
  std::set<int64_t> written;
  for (const ir::SharedTile& tile : program.tiles) {
    if (!written.insert(tile.row_bytes).second) continue;
    if (tile.swizzled) {
      out.comment(fmt::format("Where 16-byte chunk c of a row of {} bytes lies: at c ^ (row & 7), so that the lanes of an ldmatrix meet all banks.", tile.row_bytes));
      out.line(fmt::format("HD_FN vi32 {}(i32 tile, vi32 row, vi32 c) {{ return tile + row * {} + ((c ^ (row & 7)) << 4); }}\n", chunk_function(tile), tile.row_bytes));
    } else {
      out.comment(fmt::format("Where 16-byte chunk c of a row lies: rows are padded to {} bytes, so that the same chunk of 8 rows meets all banks.", tile.row_bytes));
      out.line(fmt::format("HD_FN vi32 {}(i32 tile, vi32 row, vi32 c) {{ return tile + row * {} + (c << 4); }}\n", chunk_function(tile), tile.row_bytes));
    }
  }
}

std::string tile_base(const ir::SharedTile& tile) {
  const std::string base = tile.offset == 0 ? "shared" : fmt::format("shared + {}", tile.offset);
  return tile.stages == 1 ? base : fmt::format("{} + at * {}", base, tile.bytes());
}

}  // namespace heddle::codegen::clike
