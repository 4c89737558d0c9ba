// A lane holds rows lane / 8 + 4 j and columns lane % 8 of chunks of 8, so that operands come 16 bytes at a time and rows of K meet all banks.
#include "src/codegen/clike/product_fma.h"

namespace heddle::codegen::clike {

void FmaText::place(TextWriter& out) const {
  out.line("lane_row = lane >> 3;");
  out.line("lane_column = lane & 7;");
}

void FmaText::with_keys(TextWriter& out, const Names& names, const ir::Mma& mma) const {
  const ir::SharedTile &q = names.program().staged(mma.lhs), &k = names.program().staged(mma.rhs);
  const std::string s = names.array(mma.out);
  const int chunks = names.chunks(ir::Extent::StepKeys);
  each_element_line(out, chunks, 4, s + "[n][j] = splat(0.0f);");
  out.line("HD_UNROLL_2");
  out.open(fmt::format("for (i32 d = 0; d < {}; ++d)", q.dims / 4));
  out.line("vf32 q_part[4][4];");
  out.line(fmt::format("HD_UNROLL for (i32 j = 0; j < 4; ++j) ld_shared_f32x4(q_part[j], {});", chunk_address(q, tile_base(q), "warp_row + lane_row + 4 * j", "splat(d)")));
  each_chunk(out, chunks, [&] {
    out.line("vf32 k_part[4];");
    out.line(fmt::format("ld_shared_f32x4(k_part, {});", chunk_address(k, "shared_K", "n * 8 + lane_column", "splat(d)")));
    out.line("HD_UNROLL");
    out.open("for (i32 j = 0; j < 4; ++j)");
    out.line(fmt::format("HD_UNROLL for (i32 x = 0; x < 4; ++x) {0}[n][j] = fused_multiply_add(q_part[j][x], k_part[x], {0}[n][j]);", s));
    out.close();
  });
  out.close();
}

void FmaText::with_values(TextWriter& out, const Names& names, const ir::Mma& mma) const {
  const ir::SharedTile& v = names.program().staged(mma.rhs);
  const std::string p = names.array(mma.lhs), o = names.array(mma.out);
  out.line("HD_LOOP");
  out.open("for (i32 x = 0; x < 8; ++x)");
  if (mma.live) out.line("const vu32 live_x = kPartial ? shfl_idx(live, splat(x)) : splat(~0u);  // bit d: key 8 * d + x");
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 d = 0; d < {}; ++d)", names.program().tile.tile_keys / 8));
  out.line("vf32 p_part[4];");
  out.line(fmt::format("HD_UNROLL for (i32 j = 0; j < 4; ++j) p_part[j] = shfl_idx({}[d][j], (lane & 24) + x);", p));
  each_chunk(out, names.chunks(ir::Extent::ValueDim), [&] {
    out.line(fmt::format("vf32 v_part = ld_shared_f32(shared_V + (d * 8 + x) * {} + (n * 8 + lane_column) * 4);", v.row_bytes));
    if (mma.live) out.line("if (kPartial) v_part = select((live_x >> d & 1u) != 0u, v_part, splat(0.0f));");
    out.line(fmt::format("HD_UNROLL for (i32 j = 0; j < 4; ++j) {0}[n][j] = fused_multiply_add(p_part[j], v_part, {0}[n][j]);", o));
  });
  out.close();
  out.close();
}

void FmaText::store(TextWriter& out, const Names& names, ir::ValueId value) const {
  each_element(out, names.chunks(ir::Extent::ValueDim), 4, [&] {
    out.line("const vi32 row = warp_row + lane_row + 4 * j;");
    out.line(fmt::format("st_global_f32(O, wide(row) * O_row + wide(n * 8 + lane_column), {}[n][j], row < rows);", names.array(value)));
  });
}

}  // namespace heddle::codegen::clike
