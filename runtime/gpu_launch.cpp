#include "heddle/gpu_launch.h"

#include <bit>

namespace heddle {
namespace {

uint64_t bits(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
uint64_t bits(double real) { return std::bit_cast<uint32_t>(static_cast<float>(real)); }

uint64_t value(const GpuArgument& argument, const AttentionArgs& a) {
  const auto i = static_cast<size_t>(argument.index), d = static_cast<size_t>(argument.dimension);
  switch (argument.field) {
    case GpuField::Q: return bits(a.q);
    case GpuField::K: return bits(a.k);
    case GpuField::V: return bits(a.v);
    case GpuField::O: return bits(a.o);
    case GpuField::Lse: return bits(a.lse);
    case GpuField::Batch: return bits(a.batch);
    case GpuField::Heads: return bits(a.heads);
    case GpuField::KvHeads: return bits(a.kv_heads);
    case GpuField::Sq: return bits(a.sq);
    case GpuField::Sk: return bits(a.sk);
    case GpuField::QStride: return bits(a.q_stride[i]);
    case GpuField::KStride: return bits(a.k_stride[i]);
    case GpuField::VStride: return bits(a.v_stride[i]);
    case GpuField::OStride: return bits(a.o_stride[i]);
    case GpuField::ListOffsets: return bits(a.list_offsets);
    case GpuField::ListRuns: return bits(a.list_runs);
    case GpuField::ListStride: return bits(a.list_stride[i]);
    case GpuField::TableData: return bits(a.tables[i].data);
    case GpuField::TableLast: return bits(a.tables[i].extent[d] - 1);
    case GpuField::TableStride: return bits(a.tables[i].stride[d]);
    case GpuField::IntParam: return bits(a.int_params[i]);
    case GpuField::Scale: return bits(a.scale);
    case GpuField::RealParam: break;
  }
  return bits(a.real_params[i]);
}

}  // namespace

std::vector<uint64_t> pack_arguments(const GpuLaunch& launch, const AttentionArgs& args) {
  std::vector<uint64_t> packed;
  for (const GpuArgument& argument : launch.arguments) packed.push_back(value(argument, args));
  return packed;
}

}  // namespace heddle
