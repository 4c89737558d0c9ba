#include "src/ir/decode_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"
#include "src/ir/rewrite.h"
#include "src/support/half.h"
#include "src/support/text.h"

namespace heddle::ir {
namespace {

constexpr int64_t kAlignment = 64;

void require(bool holds, const std::string& rule) {
  if (!holds) throw InternalError("decode program verifier", rule);
}

const char* text(DecodeBuffer id) {
  switch (id) {
#define HEDDLE_DECODE_TEXT(name) case DecodeBuffer::name: return #name;
    HEDDLE_DECODE_BUFFERS(HEDDLE_DECODE_TEXT)
#undef HEDDLE_DECODE_TEXT
  }
  return "";
}

DecodeBuffer buffer_at(size_t index) { return static_cast<DecodeBuffer>(index); }

void verify_shape(const DecodeProgram& p) {
  require(support::is_operand_type(p.dtype), "tensors are float32, bfloat16 or float16");
  require(p.head_dim > 0 && p.value_dim > 0 && p.block_rows > 0, "sizes are positive");
  require(p.tile_keys > 0 && p.tile_keys % p.lanes() == 0, "tiles are whole vectors of keys");
  require(p.step_keys >= p.tile_keys && p.step_keys % p.tile_keys == 0, "steps are whole tiles");
  require(p.step_keys % DecodeProgram::kFetchStreams == 0, "steps divide into the places that rows are fetched from");
  const int registers = p.target.vector_registers();
  require(p.row_tile > 0 && p.row_tile * DecodeProgram::kKeyTile + DecodeProgram::kKeyTile + 1 <= registers, "score tiles keep to registers");
  require(p.value_rows > 0 && p.value_vectors > 0 && p.value_rows * p.value_vectors + p.value_rows + 1 <= registers, "value tiles keep to registers");
}

void verify_pass(const DecodePass& pass) {
  require(!pass.mask || pass.mask->type == Type::Bool, "masks are Bool");
  require(pass.source != LoopSource::Listed, "passes have nests or test every step");
  require(pass.source == LoopSource::Nest || (pass.full.pieces.empty() && pass.partial.pieces.empty()), "tested passes have no nests");
  require(pass.source == LoopSource::Tested || !pass.mask || !mentions(pass.mask, "h"), "rows of a block differ in h, so nests cannot");
}

void verify_buffers(const DecodeProgram& p) {
  int64_t end = 0;
  for (size_t i = 0; i < kDecodeBuffers; ++i) {
    const BufferRange& range = p.buffers[i];
    require(range.offset % kAlignment == 0 && range.offset >= end, "buffers are aligned, in order and disjoint");
    require(range.bytes >= p.needed(buffer_at(i)), std::string("the buffer is large enough: ") + text(buffer_at(i)));
    end = range.offset + range.bytes;
  }
  require(end <= p.scratch_bytes, "buffers lie inside scratch");
}

std::string print_pass(const DecodePass& pass) {
  std::string out = fmt::format("  pass over {}\n", pass.mask ? print(pass.mask) : "every pair");
  if (pass.source == LoopSource::Tested) return out + "    every step of the part, tested in the kernel\n";
  return out + support::indented(print(pass.full, "full") + print(pass.partial, "partial"), "    ");
}

}  // namespace

int64_t DecodeProgram::needed(DecodeBuffer id) const {
  constexpr int64_t kFloat = sizeof(float), kOffset = sizeof(int64_t);
  switch (id) {
    case DecodeBuffer::Queries: return block_rows * padded(head_dim) * kFloat;
    case DecodeBuffer::Output: return block_rows * padded(value_dim) * kFloat;
    case DecodeBuffer::Scores: return block_rows * step_keys * kFloat;
    case DecodeBuffer::Maximum: case DecodeBuffer::Factor: return block_rows * kFloat;
    case DecodeBuffer::Sum: return block_rows * lanes() * kFloat;
    case DecodeBuffer::QuadSums: return int64_t{row_tile} * (lanes() / kKeyTile) * lanes() * kFloat;
    case DecodeBuffer::KeyRows: case DecodeBuffer::NextRows: case DecodeBuffer::ValueRows: case DecodeBuffer::Live: case DecodeBuffer::Every:
      return step_keys * kOffset;
    case DecodeBuffer::Frame: return kFrameSlots * kOffset;
  }
  return 0;
}

std::string print(const DecodeProgram& p) {
  std::vector<std::string> names = p.int_params;
  names.insert(names.end(), p.real_params.begin(), p.real_params.end());
  for (const TableDeclaration& table : p.tables) names.push_back(table.name + "[]");
  std::string out = fmt::format("{} for {}{}: up to {} rows (query heads of one KV head and query), steps of {} keys, {} bytes of scratch{}\n", p.name,
                                p.target.to_string(), p.dtype == DType::Float32 ? "" : " on " + heddle::to_string(p.dtype), p.block_rows, p.step_keys, p.scratch_bytes,
                                names.empty() ? "" : fmt::format(", parameters {}", fmt::join(names, ", ")));
  for (size_t i = 0; i < kDecodeBuffers; ++i) {
    out += fmt::format("  {:<10} at {:>6}, {} bytes\n", text(buffer_at(i)), p.buffers[i].offset, p.buffers[i].bytes);
  }
  for (const DecodePass& pass : p.passes) out += print_pass(pass);
  out += fmt::format("  step: p = q . K over {} dims  // {} rows x {} keys in registers, then keys in lanes\n", p.head_dim, p.row_tile,
                     DecodeProgram::kKeyTile);
  if (p.score) out += fmt::format("        p = {}\n", print(p.score));
  out += "        p, maximum, sum = running softmax\n";
  out += fmt::format("        o = factor * o + p . V over keys, {} dims  // {} rows x {} vectors in registers\n", p.value_dim, p.value_rows,
                     p.value_vectors);
  return out + "  O = o / sum; LSE = log of the sum, for every part of the keys\n";
}

void verify(const DecodeProgram& program) {
  verify_shape(program);
  require(!program.score || program.score->type == Type::Real, "scores are Real");
  for (const DecodePass& pass : program.passes) verify_pass(pass);
  verify_buffers(program);
}

}  // namespace heddle::ir
