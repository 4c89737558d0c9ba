#include "src/codegen/clike/argument_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "src/ir/attention_problem.h"

namespace heddle::codegen::clike {
namespace {

/// Words that a parameter of a formula may be called and a field may not.
constexpr std::array<std::string_view, 79> kTaken = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "class", "compl", "const",
    "constexpr", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern",
    "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "return", "short", "signed", "sizeof", "static", "struct", "switch",
    "template", "this", "throw", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while",
    "xor", "u8", "u16", "i32", "i64", "f32", "Formula"};

/// A field for a user's name. Names of tables' extents and of macros cannot be met: no user's name ends in an underscore after this.
std::string field(const std::string& name) {
  const bool reserved = std::ranges::count(kTaken, name) > 0 || name.ends_with('_') || name.ends_with("_last") || name.ends_with("_stride") ||
                        name.starts_with("HD_") || name.starts_with("_");
  return reserved ? "p_" + name + "_" : name;
}

const char* table_type(DType dtype) {
  switch (dtype) {
    case DType::Int32: return "i32";
    case DType::Int64: return "i64";
    case DType::Float32: return "f32";
    default: return "u8";
  }
}

struct Tensor {
  const char* name;
  GpuField pointer, stride;
};
constexpr std::array kTensors = {Tensor{"Q", GpuField::Q, GpuField::QStride}, Tensor{"K", GpuField::K, GpuField::KStride},
                                 Tensor{"V", GpuField::V, GpuField::VStride}, Tensor{"O", GpuField::O, GpuField::OStride}};

}  // namespace

const char* element_type(DType dtype) { return dtype == DType::Float32 ? "f32" : "u16"; }

bool has_formula_fields(const ir::GpuProgram& program) {
  return !program.tile.tables.empty() || !program.tile.int_params.empty() || !program.tile.real_params.empty();
}

std::vector<GpuArgument> arguments(const ir::GpuProgram& program, bool lse, bool lists) {
  std::vector<GpuArgument> fields;
  for (const Tensor& tensor : kTensors) fields.push_back({tensor.pointer});
  if (lse) fields.push_back({GpuField::Lse});
  for (GpuField size : {GpuField::Batch, GpuField::Heads, GpuField::KvHeads, GpuField::Sq, GpuField::Sk}) fields.push_back({size});
  for (const Tensor& tensor : kTensors) {
    for (int axis = 0; axis < 3; ++axis) fields.push_back({tensor.stride, axis});
  }
  if (lists) fields.insert(fields.end(), {{GpuField::ListOffsets}, {GpuField::ListRuns}, {GpuField::ListStride, 0}, {GpuField::ListStride, 1}});
  fields.push_back({GpuField::Scale});
  for (size_t i = 0; i < program.tile.tables.size(); ++i) {
    const auto table = static_cast<int32_t>(i);
    fields.push_back({GpuField::TableData, table});
    for (int d = 0; d < program.tile.tables[i].rank; ++d) fields.push_back({GpuField::TableLast, table, d});
    for (int d = 0; d < program.tile.tables[i].rank; ++d) fields.push_back({GpuField::TableStride, table, d});
  }
  for (size_t i = 0; i < program.tile.int_params.size(); ++i) fields.push_back({GpuField::IntParam, static_cast<int32_t>(i)});
  for (size_t i = 0; i < program.tile.real_params.size(); ++i) fields.push_back({GpuField::RealParam, static_cast<int32_t>(i)});
  return fields;
}

void write_argument_structs(TextWriter& out, const ir::GpuProgram& program, bool lse, bool lists) {
  if (has_formula_fields(program)) {
    out.comment("What the formula names: tables (index clamped to 0 .. last; strides in elements) and dynamic parameters.");
    out.open("struct Formula");
    for (const TableDeclaration& table : program.tile.tables) {
      out.line(fmt::format("const {}* {};", table_type(table.dtype), field(table.name)));
      out.line(fmt::format("i64 {0}_last_[{1}], {0}_stride_[{1}];", field(table.name), table.rank));
    }
    for (const std::string& name : program.tile.int_params) out.line(fmt::format("i64 {};", field(name)));
    for (const std::string& name : program.tile.real_params) out.line(fmt::format("alignas(8) f32 {};", field(name)));
    out.close("};\n");
  }
  const char* element = element_type(program.dtype);
  out.open("struct Arguments");
  out.line(fmt::format("const {} *Q, *K, *V;", element));
  out.line(fmt::format("{}* O;", element));
  if (lse) out.line("f32* LSE;  // [B, H, Sq], dense");
  out.line("i64 B, H, Hkv, Sq, Sk;");
  out.line("i64 Q_stride[3], K_stride[3], V_stride[3], O_stride[3];  // batch, head, row; in elements");
  if (lists) {
    out.line("const i64* list_offsets;  // of a row block's runs of tiles");
    out.line("const i32* list_runs;     // first tile and count: positive for full tiles, negative for partial ones");
    out.line("i64 list_stride[2];       // batch, head");
  }
  out.line("alignas(8) f32 scale;");
  if (has_formula_fields(program)) out.line("Formula f;");
  out.close("};\n");
}

void define_formula(ExprText& text, const ir::GpuProgram& program, const std::string& formula) {
  for (const TableDeclaration& table : program.tile.tables) {
    TableLeaf leaf = {formula + "." + field(table.name), {}, {}};
    for (int d = 0; d < table.rank; ++d) {
      leaf.last.push_back(fmt::format("{}.{}_last_[{}]", formula, field(table.name), d));
      leaf.stride.push_back(fmt::format("{}.{}_stride_[{}]", formula, field(table.name), d));
    }
    text.define_table(table.name, std::move(leaf));
  }
  const ir::Interval range = {-ir::kMaxParameter, ir::kMaxParameter};
  for (const std::string& name : program.tile.int_params) text.define(name, {formula + "." + field(name), false, 64, range});
  for (const std::string& name : program.tile.real_params) text.define(name, {formula + "." + field(name), false, 32, {}});
}

}  // namespace heddle::codegen::clike
