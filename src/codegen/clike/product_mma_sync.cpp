// mma.sync m16n8k16: PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type". Row g = lane / 4 and g + 8, columns
// 2 * (lane % 4) and the next of chunks of 8: the layout of results is that of left operands, two chunks at a time.
#include "src/codegen/clike/product_mma_sync.h"

namespace heddle::codegen::clike {

void MmaSyncText::place(TextWriter& out) const {
  out.line("lane_row = lane >> 2;");
  out.line("lane_column = (lane & 3) * 2;");
}

void MmaSyncText::with_keys(TextWriter& out, const Names& names, const ir::Mma& mma) const {
  const ir::SharedTile &q = names.program().staged(mma.lhs), &k = names.program().staged(mma.rhs);
  const std::string s = names.array(mma.out);
  const int chunks = names.chunks(ir::Extent::StepKeys);
  each_element_line(out, chunks, 4, s + "[n][j] = splat(0.0f);");
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 d = 0; d < {}; ++d)", q.dims / 16));
  out.line("vu32 q_part[4];");
  out.line(fmt::format("ldmatrix_x4(q_part, {});", chunk_address(q, tile_base(q), "warp_row + (lane & 15)", "2 * d + (lane >> 4)")));
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 n = 0; n < {}; n += 2)", chunks));
  out.line("vu32 k_part[4];");
  out.line(fmt::format("ldmatrix_x4(k_part, {});",
                       chunk_address(k, "shared_" + std::string(ir::text(k.tensor)), "n * 8 + (lane & 7) + ((lane >> 4) << 3)", "2 * d + ((lane >> 3) & 1)")));
  out.line(fmt::format("mma_{0}({1}[n], q_part, k_part[0], k_part[1]);", names.suffix(), s));
  out.line(fmt::format("mma_{0}({1}[n + 1], q_part, k_part[2], k_part[3]);", names.suffix(), s));
  out.close();
  out.close();
}

void MmaSyncText::with_values(TextWriter& out, const Names& names, const ir::Mma& mma) const {
  const ir::SharedTile& v = names.program().staged(mma.rhs);
  const std::string p = names.array(mma.lhs), o = names.array(mma.out), part = names.value_name(mma.lhs) + "_part";
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 d = 0; d < {}; ++d)", names.program().tile.tile_keys / 16));
  out.line(fmt::format("const vu32 {2}[4] = {{{1}({0}[2 * d][0], {0}[2 * d][1]), {1}({0}[2 * d][2], {0}[2 * d][3]),", p, names.pack(), part));
  out.line(fmt::format("                        {1}({0}[2 * d + 1][0], {0}[2 * d + 1][1]), {1}({0}[2 * d + 1][2], {0}[2 * d + 1][3])}};", p, names.pack()));
  if (mma.live) out.line("const vu32 keep[2] = {keep_pair(live, 4 * d), keep_pair(live, 4 * d + 2)};");
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 n = 0; n < {}; n += 2)", names.chunks(ir::Extent::ValueDim)));
  out.line("vu32 v_part[4];");
  out.line(fmt::format("ldmatrix_x4_trans(v_part, {});", chunk_address(v, "shared_V", "d * 16 + (lane & 15)", "n + (lane >> 4)")));
  if (mma.live) out.line("if (kPartial) { HD_UNROLL for (i32 i = 0; i < 4; ++i) v_part[i] = v_part[i] & keep[i & 1]; }");
  out.line(fmt::format("mma_{0}({1}[n], {2}, v_part[0], v_part[1]);", names.suffix(), o, part));
  out.line(fmt::format("mma_{0}({1}[n + 1], {2}, v_part[2], v_part[3]);", names.suffix(), o, part));
  out.close();
  out.close();
}

void MmaSyncText::store(TextWriter& out, const Names& names, ir::ValueId value) const {
  const ir::SharedTile& rows = names.program().results;
  const int64_t chunks = rows.dims / 8;
  each_chunk(out, names.chunks(ir::Extent::ValueDim), [&] {
    const std::string place = chunk_address(rows, tile_base(rows), "warp_row + lane_row + 8 * i", "n");
    each_row_line(out, 2, fmt::format("st_shared_4({} + lane_column * 2, {}({}[n][2 * i], {}[n][2 * i + 1]));", place, names.pack(), names.array(value), names.array(value)));
  });
  out.line("warp_sync();");
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 i = 0; i < {}; ++i)", 16 * chunks / 32));
  out.line(fmt::format("const vi32 row = warp_row + (lane + 32 * i) / {0}, c = (lane + 32 * i) % {0};", chunks));
  out.line("vu32 x[4];");
  out.line(fmt::format("ld_shared_16(x, {});", chunk_address(rows, tile_base(rows), "row", "c")));
  out.line("st_global_16(O, wide(row) * O_row + wide(c * 8), x, row < rows);");
  out.close();
}

}  // namespace heddle::codegen::clike
