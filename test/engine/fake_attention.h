// An Attention whose kernel is a function of the test: launches and their checks are tested without any compiler.
#pragma once
#include <memory>
#include <utility>
#include <vector>
#include "heddle/engine.h"
#include "runtime/thread_pool.h"
#include "src/engine/attention.h"

namespace heddle::engine {

inline LaunchRecord fake_record(bool lse = false) {
  LaunchRecord record;
  record.symbol = "fake";
  record.head_dim = 8, record.value_dim = 4, record.block_rows = 16, record.scratch_bytes = 256;
  record.max_positions = int64_t{1} << 30;
  record.lse = lse;
  return record;
}

inline Attention fake_attention(LaunchRecord record, AttentionKernel entry, int threads = 1, const std::string& refusal = {}) {
  auto kernel = std::make_shared<Kernel>();
  kernel->record = std::move(record);
  kernel->entry = entry;
  kernel->refusal = refusal;
  Attention::State state;
  state.report = report_of(*kernel, KernelReport::Origin::Memory, 0);
  state.kernel = kernel;
  state.pool = std::make_shared<runtime::ThreadPool>(threads);
  return Attention(std::make_shared<const Attention::State>(std::move(state)));
}

/// Dense tensors that fit fake_record(): batch 2, 6 query heads on 3 key heads, 5 query rows, 7 key rows.
struct FakeTensors {
  std::vector<float> memory = std::vector<float>(4096, -7.0f);
  Tensor q = Tensor::dense(memory.data(), {2, 6, 5, 8});
  Tensor k = Tensor::dense(memory.data() + 1000, {2, 3, 7, 8});
  Tensor v = Tensor::dense(memory.data() + 2000, {2, 3, 7, 4});
  Tensor o = Tensor::dense(memory.data() + 3000, {2, 6, 5, 4});
  Tensor lse = Tensor::dense(memory.data() + 4000, {2, 6, 5});
};

}  // namespace heddle::engine
