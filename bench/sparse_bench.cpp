// Sparse attention against our own dense kernel at the same lengths, in turn in one run.
//
// `efficiency`: (dense time * allowed share of the pairs) / sparse time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/operands.h"
#include "bench/turns.h"

namespace {

using bench::Shape;

struct MaskCase {
  std::string name, formula;
  std::function<bool(int64_t, int64_t)> allowed;
  int64_t length = 8192;
  std::vector<int32_t> doc{};  ///< The table that the formula reads, if any.
};

/// Documents of 100 to 2000 tokens, one after the other.
std::vector<int32_t> documents(int64_t length) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int64_t> tokens(100, 2000);
  std::vector<int32_t> doc;
  for (int32_t number = 0; static_cast<int64_t>(doc.size()) < length; ++number) {
    doc.resize(static_cast<size_t>(std::min(length, static_cast<int64_t>(doc.size()) + tokens(random))), number);
  }
  return doc;
}

/// Whether b is one of the 13 places around place a of a line of 64; at the ends the 13 are the nearest that the line has.
bool near13(int64_t a, int64_t b) {
  const int64_t first = std::clamp<int64_t>(a - 6, 0, 64 - 13);
  return b >= first && b < first + 13;
}

std::vector<MaskCase> mask_cases() {
  const std::vector<int32_t> doc = documents(8192);
  const auto together = [doc](int64_t q, int64_t k) { return doc[static_cast<size_t>(q)] == doc[static_cast<size_t>(k)]; };
  return {
      {"causal", "k <= q", [](int64_t q, int64_t k) { return k <= q; }},
      {"window256", "k <= q && q - k < 256", [](int64_t q, int64_t k) { return k <= q && q - k < 256; }},
      {"longformer512", "abs(q - k) <= 256 || k < 64 || q < 64",
       [](int64_t q, int64_t k) { return std::abs(q - k) <= 256 || k < 64 || q < 64; }},
      {"strided32", "(q - k) % 32 == 0", [](int64_t q, int64_t k) { return (q - k) % 32 == 0; }},
      {"causal_strided32", "k <= q && (q - k) % 32 == 0", [](int64_t q, int64_t k) { return k <= q && (q - k) % 32 == 0; }},
      {"sparse_transformer32", "k <= q && (q - k < 32 || (q - k) % 32 == 0)",
       [](int64_t q, int64_t k) { return k <= q && (q - k < 32 || (q - k) % 32 == 0); }},
      {"documents", "doc[q] == doc[k]", together, 8192, doc},
      {"causal_documents", "doc[q] == doc[k] && k <= q", [=](int64_t q, int64_t k) { return k <= q && together(q, k); }, 8192,
       doc},
      {"natten64x64_13x13", "abs(min(max(q / 64, 6), 57) - k / 64) <= 6 && abs(min(max(q % 64, 6), 57) - k % 64) <= 6",
       [](int64_t q, int64_t k) { return near13(q / 64, k / 64) && near13(q % 64, k % 64); }, 4096},
      {"dilated_window", "abs(q - k) <= 1024 && (q - k) % 4 == 0",
       [](int64_t q, int64_t k) { return std::abs(q - k) <= 1024 && (q - k) % 4 == 0; }},
  };
}

double share_of(const MaskCase& mask) {
  double pairs = 0;
  for (int64_t q = 0; q < mask.length; ++q) {
    for (int64_t k = 0; k < mask.length; ++k) pairs += mask.allowed(q, k);
  }
  return pairs / static_cast<double>(mask.length * mask.length);
}

/// The mask's kernel, with its table bound.
struct Sparse {
  Sparse(heddle::Engine& engine, const MaskCase& mask, const Shape& shape) : doc(mask.doc) {
    heddle::AttentionSpec spec = bench::spec_of("", shape.head_dim);
    spec.mask = doc.empty() ? heddle::Mask::parse(mask.formula)
                            : heddle::Mask::parse(mask.formula, {{"doc", heddle::TableOf{heddle::DType::Int32}}});
    attention = engine.attention(spec);
    if (doc.empty()) return;
    heddle::BindOptions bind;
    bind.tables["doc"] = heddle::Tensor::dense(doc.data(), {shape.length}, heddle::DType::Int32);
    bind.heads = bind.kv_heads = shape.heads, bind.sq = bind.sk = shape.length;
    binding = attention.bind(bind);
    options.binding = &binding;
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  std::vector<int32_t> doc;
  heddle::Attention attention;
  heddle::Binding binding;
  heddle::LaunchOptions options;
};

void sparse_against_dense(benchmark::State& state, const MaskCase& mask, Shape shape, int threads) {
  heddle::Engine engine(bench::engine_options(threads));
  const Sparse sparse(engine, mask, shape);
  const heddle::Attention dense = engine.attention(bench::spec_of("", shape.head_dim));
  bench::Operands operands(shape);
  bench::Turns turns;
  turns.measure(
      state, [&] { operands.run(sparse.attention, sparse.options); }, [&] { operands.run(dense); });
  const double share = share_of(mask);
  state.counters["share"] = share;
  turns.count(state, "efficiency", share);
}

}  // namespace

int main(int count, char** arguments) {
  for (const int threads : bench::thread_counts()) {
    for (const MaskCase& mask : mask_cases()) {
      bench::add(mask.name + "/D:64/S:" + std::to_string(mask.length) + "/H:2/threads:" + std::to_string(threads),
                 [=](benchmark::State& state) {
                   sparse_against_dense(state, mask, {2, mask.length, 64}, threads);
                 });
    }
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
