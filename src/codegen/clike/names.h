// What emitted statements call things: one set of names for a kernel, shared by the writers of its parts.
#pragma once
#include <string>
#include "src/codegen/clike/expr_text.h"
#include "src/codegen/clike/text_writer.h"
#include "src/ir/gpu_program.h"

namespace heddle::codegen::clike {

class Names {
 public:
  explicit Names(const ir::GpuProgram& program) : program_(program) {}

  const ir::GpuProgram& program() const { return program_; }
  const ir::FragmentLayout& layout() const { return program_.layout; }
  /// The register array of a value.
  const ir::RegisterArray& home(ir::ValueId value) const;
  const std::string& array(ir::ValueId value) const { return home(value).name; }
  const std::string& value_name(ir::ValueId value) const { return program_.tile.values.at(static_cast<size_t>(value)).name; }
  bool is_row(ir::ValueId value) const;
  int chunks(ir::Extent columns) const;  ///< Of a fragment.

  /// "[8][4]", "[2]": extents of a register array.
  std::string extents(const ir::RegisterArray& array) const;
  /// The index of the row that element j holds, as text of j: "j >> 1".
  std::string row_index() const;
  /// The column of element j within its chunk, beside the lane's: "(j & 1)"; empty when it is 0.
  std::string column_offset() const;
  /// Element [n][j] of a fragment, or the Row's element of the same row.
  std::string element(ir::ValueId value) const;
  /// "pack_f16" or "pack_bf16".
  const char* pack() const { return program_.dtype == DType::Float16 ? "pack_f16" : "pack_bf16"; }
  const char* suffix() const { return program_.dtype == DType::Float16 ? "f16" : program_.dtype == DType::BFloat16 ? "bf16" : "f32"; }

 private:
  const ir::GpuProgram& program_;
};

/// Writes unrolled loops over chunks n (and elements j) of a fragment.
void each_chunk(TextWriter& out, int chunks, auto body) {
  out.line("HD_UNROLL");
  out.open(fmt::format("for (i32 n = 0; n < {}; ++n)", chunks));
  body();
  out.close();
}
void each_element(TextWriter& out, int chunks, int elements, auto body) {
  each_chunk(out, chunks, [&] {
    out.line("HD_UNROLL");
    out.open(fmt::format("for (i32 j = 0; j < {}; ++j)", elements));
    body();
    out.close();
  });
}
inline void each_element_line(TextWriter& out, int chunks, int elements, const std::string& line) {
  each_chunk(out, chunks, [&] { out.line(fmt::format("HD_UNROLL for (i32 j = 0; j < {}; ++j) {}", elements, line)); });
}
/// The same over the rows of a lane.
inline void each_row_line(TextWriter& out, int rows, const std::string& line) {
  out.line(fmt::format("HD_UNROLL for (i32 i = 0; i < {}; ++i) {}", rows, line));
}

}  // namespace heddle::codegen::clike
