// What a launch costs beside its kernel: Attention::run() against a call of the kernel's own function, in turn in one run.
//
// `overhead_us`: the difference of best times, for a shape of one block that takes the caller's thread alone. `found_us`: the
// same where each round starts from the formula's text, with the kernel in memory: parsing, lookup, launch.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "bench/operands.h"
#include "bench/turns.h"
#include "runtime/disk_cache.h"
#include "runtime/object_loader.h"
#include "runtime/scratch.h"
#include "test/temporary_folder.h"

namespace {

constexpr int kCalls = 200;  ///< A sample: launches are shorter than what a clock costs.

/// The function of a kernel, loaded once more from its file.
class BareKernel {
 public:
  explicit BareKernel(const std::string& path) {
    const auto stored = heddle::runtime::read_kernel(path);
    if (!stored) throw std::runtime_error("cannot read " + path);
    code_ = heddle::runtime::load_object(stored->object, stored->record.symbol);
    memory_ = scratch_.reserve(stored->record.scratch_bytes);
    rows_ = stored->record.block_rows;
  }
  /// The first block.
  void run(const heddle::AttentionArgs& args) const {
    reinterpret_cast<heddle::AttentionKernel>(code_.entry)(&args, 0, 1, memory_);
  }
  int64_t rows() const { return rows_; }

 private:
  heddle::runtime::LoadedCode code_;
  heddle::runtime::Scratch scratch_;
  void* memory_ = nullptr;
  int64_t rows_ = 0;
};

heddle::AttentionArgs arguments_of(bench::Operands& operands) {
  heddle::AttentionArgs args;
  args.q = operands.q.data(), args.k = operands.k.data(), args.v = operands.v.data(), args.o = operands.o.data();
  args.batch = args.heads = args.kv_heads = 1, args.sq = args.sk = operands.dims[2];
  const int64_t dim = operands.dims[3], head = args.sq * dim;
  for (int64_t* strides : {args.q_stride, args.k_stride, args.v_stride, args.o_stride}) {
    strides[0] = strides[1] = head, strides[2] = dim;
  }
  args.scale = 1 / std::sqrt(static_cast<double>(dim));
  return args;
}

template <class Work>
void repeat(const Work& work) {
  for (int i = 0; i < kCalls; ++i) work();
}

void launch_against_kernel(benchmark::State& state, const std::string& mask, bench::Shape shape) {
  const heddle::test::TemporaryFolder cache;
  heddle::EngineOptions options = bench::engine_options(0);
  options.disk_cache = true, options.cache_dir = cache.path();
  heddle::Engine engine(options);
  const heddle::Attention attention = engine.attention(bench::spec_of(mask, shape.head_dim));
  const BareKernel bare(attention.report().path);
  if (shape.length > bare.rows()) throw std::logic_error("more than one block");
  bench::Operands operands(shape);
  const heddle::AttentionArgs args = arguments_of(operands);
  const heddle::Tensor q = operands.view(operands.q), k = operands.view(operands.k), v = operands.view(operands.v);
  const heddle::Tensor o = operands.view(operands.o);
  const auto launch = [&](const heddle::Attention& one) { one.run(q, k, v, o); };
  bench::Turns turns;
  turns.measure(
      state, [&] { repeat([&] { launch(attention); }); }, [&] { repeat([&] { bare.run(args); }); });
  const auto find_and_launch = [&] { launch(engine.attention(bench::spec_of(mask, shape.head_dim))); };
  double from_text = 1e9;
  for (int i = 0; i < 20; ++i) from_text = std::min(from_text, bench::seconds([&] { repeat(find_and_launch); }));
  constexpr double kMicroseconds = 1e6 / kCalls;
  state.counters["overhead_us"] = (turns.first() - turns.second()) * kMicroseconds;
  state.counters["overhead_us_median"] = turns.median_difference() * kMicroseconds;
  state.counters["found_us"] = (from_text - turns.second()) * kMicroseconds;
  state.counters["kernel_us"] = turns.second() * kMicroseconds;
}

}  // namespace

int main(int count, char** arguments) {
  for (const auto& [name, mask] : {std::pair{"window4", "k <= q && q - k < 4"}, std::pair{"causal", "k <= q"}}) {
    bench::add("launch/" + std::string(name) + "/D:16/S:4", [mask = std::string(mask)](benchmark::State& state) {
      launch_against_kernel(state, mask, {1, 4, 16});
    });
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
