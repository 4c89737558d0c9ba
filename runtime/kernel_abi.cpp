#include "heddle/kernel_abi.h"
#include <algorithm>
#include <cstddef>
#include <new>
#include <tuple>
#include <type_traits>
#include "runtime/bind_step.h"
#include "runtime/byte_stream.h"
#include "src/support/half.h"

namespace heddle {

static_assert(std::is_standard_layout_v<AttentionArgs>);
static_assert(offsetof(AttentionArgs, q) == 0 && offsetof(AttentionArgs, k) == 8 && offsetof(AttentionArgs, v) == 16);
static_assert(offsetof(AttentionArgs, o) == 24 && offsetof(AttentionArgs, lse) == 32);
static_assert(offsetof(AttentionArgs, batch) == 40 && offsetof(AttentionArgs, heads) == 48 && offsetof(AttentionArgs, kv_heads) == 56);
static_assert(offsetof(AttentionArgs, sq) == 64 && offsetof(AttentionArgs, sk) == 72);
static_assert(offsetof(AttentionArgs, q_stride) == 80 && offsetof(AttentionArgs, k_stride) == 104);
static_assert(offsetof(AttentionArgs, v_stride) == 128 && offsetof(AttentionArgs, o_stride) == 152);
static_assert(offsetof(AttentionArgs, int_params) == 176 && offsetof(AttentionArgs, real_params) == 184);
static_assert(offsetof(AttentionArgs, scale) == 192 && offsetof(AttentionArgs, tables) == 200);
static_assert(offsetof(AttentionArgs, list_offsets) == 208 && offsetof(AttentionArgs, list_runs) == 216);
static_assert(offsetof(AttentionArgs, list_stride) == 224 && offsetof(AttentionArgs, values) == 240);
static_assert(offsetof(AttentionArgs, values_stride) == 248 && offsetof(AttentionArgs, values_width) == 272);
static_assert(offsetof(AttentionArgs, split) == 280 && sizeof(AttentionArgs) == 288);
static_assert(std::is_standard_layout_v<SplitArgs> && offsetof(SplitArgs, lse) == 8 && offsetof(SplitArgs, o_stride) == 16);
static_assert(offsetof(SplitArgs, lse_stride) == 48 && offsetof(SplitArgs, parts) == 80 && offsetof(SplitArgs, lengths) == 96);
static_assert(offsetof(SplitArgs, pages) == 104 && offsetof(SplitArgs, page_keys) == 120 && sizeof(SplitArgs) == 128);
static_assert(offsetof(TableArg, extent) == 8 && offsetof(TableArg, stride) == 40 && sizeof(TableArg) == 72);
static_assert(offsetof(TileRun, count) == 4 && sizeof(TileRun) == 8);

namespace {

template <typename Record, typename Wanted>
concept Like = std::is_same_v<std::remove_const_t<Record>, Wanted>;

}  // namespace

// The one list of fields of each record, in stored order.

template <Like<TableDeclaration> Record>
static auto fields(Record& r) {
  return std::tie(r.name, r.dtype, r.rank);
}

template <Like<BindStep> Record>
static auto fields(Record& r) {
  return std::tie(r.op, r.a, r.b, r.c, r.value);
}

template <Like<BindProgram> Record>
static auto fields(Record& r) {
  return std::tie(r.steps, r.reads, r.by_batch, r.by_head);
}

template <Like<RowProgression> Record>
static auto fields(Record& r) {
  return std::tie(r.offset, r.count, r.stride);
}

template <Like<LaunchRecord> Record>
static auto fields(Record& r) {
  return std::tie(r.symbol, r.target, r.dtype, r.head_dim, r.value_dim, r.block_rows, r.scratch_bytes, r.max_positions, r.lse, r.probabilities, r.row_progressions, r.int_params,
                  r.real_params, r.tables, r.bind, r.tile_keys, r.split, r.summary, r.facts, r.plan);
}

namespace {

bool plausible(const TableDeclaration& table) {
  constexpr DType kTypes[] = {DType::Int32, DType::Int64, DType::UInt8, DType::Bool, DType::Float32};
  return !table.name.empty() && table.rank >= 1 && table.rank <= kMaxTableRank && std::ranges::count(kTypes, table.dtype);
}

bool index_into(int64_t value, size_t size) { return value >= 0 && value < static_cast<int64_t>(size); }

/// A Read whose table can be in a mask and whose index steps all come before step `at`.
bool plausible_read(const LaunchRecord& record, const BindStep& step, size_t at) {
  if (!index_into(step.value, record.tables.size()) || step.b != 0 || step.c != 0) return false;
  const TableDeclaration& table = record.tables[static_cast<size_t>(step.value)];
  const std::vector<int32_t>& reads = record.bind.reads;
  if (table.dtype == DType::Float32 || step.a < 0 || int64_t{step.a} + table.rank > static_cast<int64_t>(reads.size())) return false;
  return std::all_of(reads.begin() + step.a, reads.begin() + step.a + table.rank, [&](int32_t i) { return index_into(i, at); });
}

bool plausible_step(const LaunchRecord& record, const BindStep& step, size_t at) {
  const bool leaf = step.a == 0 && step.b == 0 && step.c == 0;
  switch (step.op) {
    case BindOp::Const: return leaf;
    case BindOp::Var: return leaf && index_into(step.value, std::size(kBindVariables));
    case BindOp::Param: return leaf && index_into(step.value, record.int_params.size());
    case BindOp::Read: return plausible_read(record, step, at);
    default: break;
  }
  if (step.op > BindOp::Select || step.value != 0) return false;
  const int operands = operand_count(step.op);
  const auto fits = [&](int32_t operand, int position) { return position < operands ? index_into(operand, at) : operand == 0; };
  return fits(step.a, 0) && fits(step.b, 1) && fits(step.c, 2);
}

bool plausible_bind(const LaunchRecord& record) {
  const std::vector<BindStep>& steps = record.bind.steps;
  if (record.tile_keys < 0 || (record.tile_keys == 0 && !steps.empty())) return false;
  for (size_t at = 0; at < steps.size(); ++at) {
    if (!plausible_step(record, steps[at], at)) return false;
  }
  return true;
}

bool plausible(const LaunchRecord& record) {
  return support::is_operand_type(record.dtype) && record.head_dim > 0 && record.value_dim > 0 && record.block_rows > 0 && record.scratch_bytes >= 0 &&
         record.max_positions > 0 && !record.symbol.empty() &&
         std::ranges::all_of(record.tables, [](const TableDeclaration& table) { return plausible(table); }) && plausible_bind(record);
}

}  // namespace

std::string serialize(const LaunchRecord& record) {
  runtime::ByteWriter writer;
  writer.put(LaunchRecord::kVersion);
  writer.put(record);
  return writer.take();
}

bool deserialize(std::string_view bytes, LaunchRecord& record) try {
  runtime::ByteReader reader(bytes);
  uint32_t version = 0;
  if (!reader.get(version) || version != LaunchRecord::kVersion) return false;
  return reader.get(record) && reader.done() && plausible(record);
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace heddle
