// Facts of a raw 8192 x 8192 matrix of bytes on 2 threads: packing, pieces, components, tiles of 64x64 and a formula, all from the bytes.
//
// Time is the mean; `best_ms` is the shortest run. The label is the formula found. The bar is 100 ms.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dsl/parser.h"
#include "src/analysis/matrix_facts.h"
#include "src/ir/evaluate.h"

namespace {

namespace analysis = heddle::analysis;

constexpr int64_t kSide = 8192;

struct Family {
  const char *name, *formula;
};
const Family kFamilies[] = {
    {"causal", "k <= q"},
    {"window", "k <= q && q - k < 256"},
    {"longformer", "abs(q - k) <= 256 || k < 16 || q < 16"},
    {"strided", "k <= q && (q - k < 128 || (q - k) % 128 == 0)"},
    {"fixed", "k <= q && (q / 128 == k / 128 || k % 128 >= 120)"},
    {"block_diagonal", "q / 128 == k / 128"},
    {"checkerboard", "(q + k) % 2 == 0"},
};

std::vector<uint8_t> bytes_of(const std::string& formula) {
  const heddle::ir::CompiledExpr program(heddle::dsl::parse_formula(formula, {}), {"q", "k"});
  std::vector<uint8_t> bytes(static_cast<size_t>(kSide * kSide));
  for (int64_t q = 0; q < kSide; ++q) {
    for (int64_t k = 0; k < kSide; ++k) {
      const int64_t pair[] = {q, k};
      bytes[static_cast<size_t>(q * kSide + k)] = static_cast<uint8_t>(program.run_int(pair));
    }
  }
  return bytes;
}

std::vector<uint8_t> random_bytes() {
  std::mt19937_64 random(1);
  std::vector<uint8_t> bytes(static_cast<size_t>(kSide * kSide));
  for (uint8_t& byte : bytes) byte = random() & 1;
  return bytes;
}

void analyse(benchmark::State& state, const std::vector<uint8_t>& bytes) {
  analysis::MatrixFacts facts;
  double best = std::numeric_limits<double>::infinity(), pack = best, rows = best, formula = best;
  for (auto _ : state) {
    facts = analysis::matrix_facts({bytes.data(), kSide, kSide, kSide});
    best = std::min(best, facts.milliseconds), pack = std::min(pack, facts.pack_milliseconds);
    rows = std::min(rows, facts.rows_milliseconds), formula = std::min(formula, facts.formula_milliseconds);
  }
  state.counters["best_ms"] = best, state.counters["pack_ms"] = pack, state.counters["rows_ms"] = rows, state.counters["formula_ms"] = formula;
  state.SetLabel(facts.formula ? heddle::ir::print(facts.formula) : facts.irregular ? "irregular" : fmt::format("{} components", facts.components.size()));
}

}  // namespace

int main(int argc, char** argv) {
  for (const Family& family : kFamilies) {
    benchmark::RegisterBenchmark(family.name, [family](benchmark::State& state) { analyse(state, bytes_of(family.formula)); })
        ->Unit(benchmark::kMillisecond)->UseRealTime();
  }
  benchmark::RegisterBenchmark("random", [](benchmark::State& state) { analyse(state, random_bytes()); })->Unit(benchmark::kMillisecond)->UseRealTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
