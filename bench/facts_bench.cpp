// Facts of masks at 1,048,576 x 1,048,576: time to derive tile relations and affine components, and time to count.
//
// `relations/*`: rows with their affine components, and the 64x64 and 128x64 tile relations, each with its transposed one, from a
// parsed formula with no lengths given. `counts/*`: non-zeros, rows, runs and 64x64 tiles, on 2 threads, the facts they need included.
// Time is the mean; `best_ms` is the shortest run, which other work on the machine disturbs least. The label says how the facts are
// proved; a proof or a tile relation that is missing is an error.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "dsl/parser.h"
#include "src/analysis/counts.h"
#include "src/analysis/facts.h"
#include "src/ir/rewrite.h"
#include "src/support/timer.h"

namespace {

namespace analysis = heddle::analysis;

constexpr int64_t kLength = 1 << 20;
constexpr int kThreads = 2;
constexpr analysis::TileShape kShapes[] = {{64, 64}, {128, 64}};

struct Family {
  const char *name, *formula;
  analysis::Proof proof = analysis::Proof::Symbolic;
};

const Family kFamilies[] = {
    {"causal", "k <= q"},
    {"causal_bottom_right", "k <= q + Sk - Sq"},
    {"window_causal_4096", "k <= q && q - k < 4096"},
    {"window_1024", "abs(q - k) <= 1024"},
    {"window_100", "abs(q - k) <= 100"},
    {"dilated_window_2", "abs(q - k) <= 256 && (q - k) % 2 == 0"},
    {"dilated_window_3_causal", "k <= q && q - k <= 300 && (q - k) % 3 == 0"},
    {"strided_2048", "abs(q - k) % 2048 == 0"},
    {"strided_32", "abs(q - k) % 32 == 0"},
    {"sparse_transformer_strided_128", "k <= q && (q - k < 128 || (q - k) % 128 == 0)"},
    {"sparse_transformer_strided_45", "k <= q && (q - k < 45 || (q - k) % 45 == 0)"},
    {"sparse_transformer_fixed_128_8", "k <= q && (q / 128 == k / 128 || k % 128 >= 128 - 8)"},
    {"sparse_transformer_fixed_100_12", "k <= q && (q / 100 == k / 100 || k % 100 >= 100 - 12)"},
    {"longformer_256_16", "abs(q - k) <= 256 || k < 16 || q < 16"},
    {"longformer_dilated", "(abs(q - k) <= 256 && (q - k) % 2 == 0) || k < 16 || q < 16"},
    {"block_diagonal_128", "q / 128 == k / 128"},
    {"block_diagonal_100", "q / 100 == k / 100"},
    {"blocked_512", "q / 512 == k / 512 || q / 512 == k / 512 + 1"},
    {"sinks_window_4_4000", "k <= q && (k < 4 || q - k < 4000)"},
    {"prefix_100", "k <= q || k < 100"},
    {"prefix_window_100_128", "k < 100 || k <= q && q - k < 128"},
    {"natten_2d_1024_13",
     "abs(min(max(q / 1024, 6), 1017) - k / 1024) <= 6 && abs(min(max(q % 1024, 6), 1017) - k % 1024) <= 6"},
    {"natten_2d_1024_13_by_start",
     "k / 1024 >= min(max(q / 1024 - 6, 0), 1024 - 13) && k / 1024 < min(max(q / 1024 - 6, 0), 1024 - 13) + 13 && "
     "k % 1024 >= min(max(q % 1024 - 6, 0), 1024 - 13) && k % 1024 < min(max(q % 1024 - 6, 0), 1024 - 13) + 13"},
    {"swin_1024_8", "q / 1024 / 8 == k / 1024 / 8 && q % 1024 / 8 == k % 1024 / 8"},
    {"swin_shifted_1024_8_4",
     "q / 1024 / 8 == k / 1024 / 8 && q % 1024 / 8 == k % 1024 / 8 && (q / 1024 + 4) / 1024 == (k / 1024 + 4) / 1024 && "
     "(q % 1024 + 4) / 1024 == (k % 1024 + 4) / 1024"},
    {"swin_shifted_1024_7_3_original",
     "(q / 1024 - 3) / 7 == (k / 1024 - 3) / 7 && (q % 1024 - 3) / 7 == (k % 1024 - 3) / 7"},
    {"swin_shifted_1024_7_3",
     "q / 1024 / 7 == k / 1024 / 7 && q % 1024 / 7 == k % 1024 / 7 && (q / 1024 + 3) / 1024 == (k / 1024 + 3) / 1024 && "
     "(q % 1024 + 3) / 1024 == (k % 1024 + 3) / 1024"},
};

/// What one run asks; an empty text, or what is wrong with the answers.
using Work = std::function<std::string(const analysis::MaskFacts&, benchmark::State&)>;

std::string ask_relations(const analysis::MaskFacts& facts, benchmark::State& state) {
  state.counters["components"] = static_cast<double>(facts.components().size());
  for (const analysis::TileShape shape : kShapes) {
    for (const bool transposed : {false, true}) {
      const auto relation = facts.tiles(shape, transposed);
      if (!relation) return "a tile relation is missing";
      if (relation->proof != facts.proof()) return std::string("a tile relation is ") + to_string(relation->proof);
    }
  }
  return "";
}

std::string ask_counts(const analysis::MaskFacts& facts, benchmark::State& state) {
  analysis::CountRequest request;
  request.threads = kThreads;
  const analysis::MaskCounts counts = analysis::count(facts, {kLength, kLength}, request);
  state.counters["nnz"] = static_cast<double>(counts.nnz);
  return "";
}

std::string wrong_proof(const analysis::MaskFacts& facts, const Family& family) {
  if (facts.proof() == family.proof) return "";
  return std::string("proved ") + to_string(facts.proof()) + ", expected " + to_string(family.proof);
}

void measure(benchmark::State& state, const Family& family, const Work& work) {
  const heddle::ir::Expr mask = heddle::ir::guard_divisors(heddle::dsl::parse_formula(family.formula, {}));
  double best = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    const heddle::support::Timer timer;
    const analysis::MaskFacts facts(mask);
    std::string wrong = work(facts, state);
    const double milliseconds = timer.milliseconds();
    state.SetIterationTime(milliseconds * 1e-3);
    best = std::min(best, milliseconds);
    if (wrong.empty()) wrong = wrong_proof(facts, family);
    if (!wrong.empty()) return state.SkipWithError(wrong.c_str());
    state.SetLabel(to_string(facts.proof()));
  }
  state.counters["best_ms"] = best;
}

void add(const std::string& quantity, const Work& work) {
  for (const Family& family : kFamilies) {
    const auto run = [&family, work](benchmark::State& state) { measure(state, family, work); };
    benchmark::RegisterBenchmark((quantity + "/" + family.name).c_str(), run)->UseManualTime()->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  add("relations", ask_relations);
  add("counts", ask_counts);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
