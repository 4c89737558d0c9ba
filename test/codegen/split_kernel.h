// Compiles and runs kernels for few queries on guarded memory, with parts of any size, merged as launches merge them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/merge.h"
#include "runtime/split_launch.h"
#include "src/codegen/llvm/emit_decode.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/launch_data.h"

namespace heddle::test {

class SplitKernel {
 public:
  explicit SplitKernel(ir::AttentionProblem problem) : program_(program_of(std::move(problem))),
        code_(runtime::load_object(jit::compile(codegen::emit_kernel(program_, "kernel")), "kernel")) {}

  static ir::DecodeProgram program_of(ir::AttentionProblem problem) {
    problem.few_queries = true;
    return lower::run_pipeline(problem).state.decode;
  }
  const ir::DecodeProgram& program() const { return program_; }
  LaunchRecord record() const {
    LaunchRecord record;
    record.head_dim = program_.head_dim, record.value_dim = program_.value_dim;
    record.block_rows = program_.block_rows, record.tile_keys = program_.tile_keys;
    record.scratch_bytes = program_.scratch_bytes, record.split = true;
    return record;
  }
  AttentionKernel entry() const { return reinterpret_cast<AttentionKernel>(code_.entry); }

  /// Parts of `part_keys` keys (a multiple of tile_keys), each block with a scratch of exactly the promised size, full of NaN; partial
  /// results on guarded memory. `split` gives lengths and pages.
  void run(const LaunchData& data, int64_t part_keys, Rim rim, SplitArgs split = {}) const {
    AttentionArgs args = data.args;
    const int64_t rows = args.batch * args.heads * args.sq, value_dim = program_.value_dim;
    split.part_keys = part_keys, split.parts = std::max<int64_t>(1, (args.sk + part_keys - 1) / part_keys);
    GuardedArray<float> o(static_cast<size_t>(split.parts * rows * value_dim), rim), lse(static_cast<size_t>(split.parts * rows), rim);
    std::fill(o.begin(), o.end(), std::numeric_limits<float>::quiet_NaN());
    std::fill(lse.begin(), lse.end(), std::numeric_limits<float>::quiet_NaN());
    const int64_t strides[] = {args.heads * args.sq, args.sq, 1, rows};
    for (size_t i = 0; i < 4; ++i) split.lse_stride[i] = strides[i], split.o_stride[i] = strides[i] * value_dim;
    split.o = o.data(), split.lse = lse.data(), args.split = &split;
    GuardedArray<std::byte> scratch(static_cast<size_t>(program_.scratch_bytes), rim);
    std::fill(scratch.begin(), scratch.end(), std::byte{0xff});
    entry()(&args, 0, runtime::split_blocks(args, record()) * split.parts, scratch.data());
    merge(data, split, rows);
  }

 private:
  void merge(const LaunchData& data, const SplitArgs& split, int64_t rows) const {
    int64_t row = 0;
    data.each_row([&](int64_t b, int64_t h, int64_t q) {
      std::vector<runtime::PartialRows> parts;
      for (int64_t i = 0; i < split.parts; ++i) {
        parts.push_back({split.o + (i * rows + row) * program_.value_dim, split.lse + i * rows + row, 0, 0});
      }
      float* o = static_cast<float*>(data.args.o) + b * data.args.o_stride[0] + h * data.args.o_stride[1] + q * data.args.o_stride[2];
      runtime::merge_partials(parts, 1, program_.value_dim, {o, data.args.lse ? data.args.lse + row : nullptr, 0, 1});
      ++row;
    });
  }

  ir::DecodeProgram program_;
  runtime::LoadedCode code_;
};

}  // namespace heddle::test
