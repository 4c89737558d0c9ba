#include "heddle/kernel_abi.h"
#include <cstddef>
#include <new>
#include <type_traits>
#include "runtime/byte_stream.h"

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
static_assert(offsetof(AttentionArgs, list_stride) == 224 && sizeof(AttentionArgs) == 240);
static_assert(offsetof(TableArg, extent) == 8 && offsetof(TableArg, stride) == 40 && sizeof(TableArg) == 72);
static_assert(offsetof(TileRun, count) == 4 && sizeof(TileRun) == 8);

namespace {

/// The one list of fields, in stored order: `visit` is called with each.
template <typename Record, typename Visit>
void each_field(Record& record, Visit visit) {
  visit(record.symbol), visit(record.target);
  visit(record.head_dim), visit(record.value_dim), visit(record.block_rows), visit(record.scratch_bytes);
  visit(record.max_positions), visit(record.lse);
  visit(record.int_params), visit(record.real_params);
  visit(record.summary), visit(record.facts), visit(record.plan);
}

bool plausible(const LaunchRecord& record) {
  return record.head_dim > 0 && record.value_dim > 0 && record.block_rows > 0 && record.scratch_bytes >= 0 &&
         record.max_positions > 0 && !record.symbol.empty();
}

}  // namespace

std::string serialize(const LaunchRecord& record) {
  runtime::ByteWriter writer;
  writer.put(LaunchRecord::kVersion);
  each_field(record, [&](const auto& field) { writer.put(field); });
  return writer.take();
}

bool deserialize(std::string_view bytes, LaunchRecord& record) try {
  runtime::ByteReader reader(bytes);
  uint32_t version = 0;
  if (!reader.get(version) || version != LaunchRecord::kVersion) return false;
  each_field(record, [&](auto& field) { reader.get(field); });
  return reader.done() && plausible(record);
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace heddle
