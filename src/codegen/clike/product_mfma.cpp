// v_mfma 16x16x16 (CDNA ISA: lane = i + 16 * (k / 4) holds A[i][k], element k % 4; the same for B[k][j]; lane = j + 16 * (i / 4), element
// i % 4 holds D[i][j]). S^T = K Q^T: its result is the right operand of O^T = V^T P^T as it stands, and a row of queries stays in 4 lanes.
#include "src/codegen/clike/product_mfma.h"

namespace heddle::codegen::clike {
namespace {

/// Registers of 4 elements.
int words(const Names& names) { return names.program().dtype == DType::Float32 ? 4 : 2; }

}  // namespace

void MfmaText::place(TextWriter& out) const {
  out.line("lane_row = lane & 15;");
  out.line("lane_column = (lane >> 4) * 4;");
}

void MfmaText::fields(TextWriter& out, const Names& names) const {
  out.line(fmt::format("vu32 q_part[{}][{}];  // the lane's elements of Q", names.program().tile.head_dim / 16, words(names)));
}

void MfmaText::begin(TextWriter& out, const Names& names) const {
  out.line(fmt::format("HD_UNROLL for (i32 d = 0; d < {}; ++d) ld_global_{}(q_part[d], Q, wide(warp_row + lane_row) * Q_row + wide(d * 16 + lane_column), warp_row + lane_row < rows);",
                       names.program().tile.head_dim / 16, 4 * words(names)));
}

void MfmaText::with_keys(TextWriter& out, const Names& names, const ir::Mma& mma) const {
  const ir::SharedTile& k = names.program().staged(mma.rhs);
  const std::string s = names.array(mma.out);
  const int64_t size = size_of(names.program().dtype);
  each_element_line(out, names.chunks(ir::Extent::StepKeys), 4, s + "[n][j] = splat(0.0f);");
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 d = 0; d < {}; ++d)", k.dims / 16));
  each_chunk(out, names.chunks(ir::Extent::StepKeys), [&] {
    out.line(fmt::format("vu32 k_part[{}];", words(names)));
    out.line(fmt::format("ld_shared_{}(k_part, shared_K + (n * 16 + lane_row) * {} + (d * 16 + lane_column) * {});", 4 * words(names), k.row_bytes, size));
    out.line(fmt::format("mma_{}({}[n], k_part, q_part[d]);", names.suffix(), s));
  });
  out.line("keep_order();");
  out.close();
}

void MfmaText::with_values(TextWriter& out, const Names& names, const ir::Mma& mma) const {
  const ir::SharedTile& v = names.program().staged(mma.rhs);
  const std::string p = names.array(mma.lhs), o = names.array(mma.out);
  const bool wide = words(names) == 4;
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 d = 0; d < {}; ++d)", names.program().tile.tile_keys / 16));
  if (wide) {
    out.line(fmt::format("const vu32 p_part[4] = {{word({0}[d][0]), word({0}[d][1]), word({0}[d][2]), word({0}[d][3])}};", p));
  } else {
    out.line(fmt::format("const vu32 p_part[2] = {{{1}({0}[d][0], {0}[d][1]), {1}({0}[d][2], {0}[d][3])}};", p, names.pack()));
  }
  each_chunk(out, names.chunks(ir::Extent::ValueDim), [&] {
    const std::string place = fmt::format("shared_V + (d * 16 + lane_column) * {} + (n * 16 + lane_row) * {}", v.row_bytes, size_of(names.program().dtype));
    out.line(fmt::format("vu32 v_part[{}];", words(names)));
    out.line(fmt::format("gather_{}<{}>(v_part, {});", wide ? "4x4" : "4x2", v.row_bytes, place));
    if (mma.live) {
      const char* keep = wide ? "keep_word(live, 4 * d + i)" : "keep_pair(live, 4 * d + 2 * i)";
      out.line(fmt::format("if (kPartial) {{ HD_UNROLL for (i32 i = 0; i < {}; ++i) v_part[i] = v_part[i] & {}; }}", words(names), keep));
    }
    out.line(fmt::format("mma_{}({}[n], v_part, p_part);", names.suffix(), o));
  });
  out.line("keep_order();");
  out.close();
}

void MfmaText::store(TextWriter& out, const Names& names, ir::ValueId value) const {
  const std::string o = names.array(value);
  each_chunk(out, names.chunks(ir::Extent::ValueDim), [&] {
    if (words(names) == 4) {
      out.line(fmt::format("const vu32 x[4] = {{word({0}[n][0]), word({0}[n][1]), word({0}[n][2]), word({0}[n][3])}};", o));
    } else {
      out.line(fmt::format("const vu32 x[2] = {{{1}({0}[n][0], {0}[n][1]), {1}({0}[n][2], {0}[n][3])}};", o, names.pack()));
    }
    out.line(fmt::format("st_global_{}(O, wide(warp_row + lane_row) * O_row + wide(n * 16 + lane_column), x, warp_row + lane_row < rows);", 4 * words(names)));
  });
}

}  // namespace heddle::codegen::clike
