#include "src/codegen/clike/load_text.h"

#include <set>
#include "src/codegen/clike/argument_text.h"
#include "src/codegen/clike/dialect.h"
#include "src/codegen/clike/product_text.h"

namespace heddle::codegen::clike {
namespace {

int64_t elements_a_chunk(const ir::GpuProgram& program) { return 16 / size_of(program.dtype); }

std::string load_function(const ir::SharedTile& tile) { return fmt::format("load_{}x{}", tile.rows, tile.dims); }

void write_load(TextWriter& out, const ir::GpuProgram& program, const ir::SharedTile& tile) {
  const int64_t chunks = tile.dims / elements_a_chunk(program), all = tile.rows * chunks, threads = program.threads();
  out.comment(fmt::format("Rows of {} elements into shared memory, 16 bytes a thread at a time; rows from `count` on become 0.", tile.dims));
  out.open(fmt::format("HD_FN void {}(i32 tile, const {}* rows, i64 stride, i32 count)", load_function(tile), element_type(program.dtype)));
  const bool even = threads % chunks == 0 && all % threads == 0;  // then a thread stays in its column of chunks
  if (all % threads != 0) out.line(fmt::format("count = imin(count, {});", tile.rows));
  if (even) {
    out.line(fmt::format("const vi32 row = thread_id() / {0}, c = thread_id() % {0};", chunks));
    out.line(fmt::format("const vi64 place = wide(row) * stride + wide(c * {});", elements_a_chunk(program)));
  }
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 i = 0; i < {}; ++i)", (all + threads - 1) / threads));
  if (even) {
    const int64_t step = threads / chunks;
    out.line(fmt::format("{}({}, rows + i * {} * stride, place, row + i * {} < count);", dialect(program.target.vendor).copy,
                         chunk_address(tile, "tile", fmt::format("row + i * {}", step), "c"), step, step));
  } else {
    out.line(fmt::format("const vi32 id = thread_id() + i * {0}, row = id / {1}, c = id % {1};", threads, chunks));
    out.line(fmt::format("{}({}, rows, wide(row) * stride + wide(c * {}), row < count);", dialect(program.target.vendor).copy, chunk_address(tile, "tile", "row", "c"), elements_a_chunk(program)));
  }
  out.close();
  out.close("}\n");
}

}  // namespace

void load_functions(TextWriter& out, const ir::GpuProgram& program) {
  std::set<std::string> written;
  for (const ir::SharedTile& tile : program.tiles) {
    if (written.insert(load_function(tile)).second) write_load(out, program, tile);
  }
}

void load_queries(TextWriter& out, const ir::GpuProgram& program) {
  for (const ir::SharedTile& tile : program.tiles) {
    if (tile.tensor == ir::TensorId::Q) out.line(fmt::format("{}({}, Q, Q_row, rows);", load_function(tile), tile_base(tile)));
  }
}

void load_keys(TextWriter& out, const ir::GpuProgram& program) {
  out.open("HD_MEMBER void load_keys(i32 kb, i32 at)");
  out.line(fmt::format("const i32 first_key = kb * {};", program.tile.tile_keys));
  std::set<ir::TensorId> seen;
  for (const ir::SharedTile& tile : program.tiles) {
    if (tile.tensor == ir::TensorId::Q || !seen.insert(tile.tensor).second) continue;
    out.line(fmt::format("{0}({1}, {2} + first_key * {2}_row, {2}_row, Sk - first_key);", load_function(tile), tile_base(tile), ir::text(tile.tensor)));
  }
  out.close("}\n");
}

}  // namespace heddle::codegen::clike
