// The bind step: time from the contents of tables to tile lists of 64 rows and 16 keys, on 2 threads.
//
// Time is the mean; `best_ms` is the shortest run, which other work on the machine disturbs least. Counters give the tiles listed as full
// and as partial and the bytes of the lists. documents_100_tables binds 100 different tables in a row; its times are for one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dsl/parser.h"
#include "runtime/bind.h"
#include "src/ir/rewrite.h"
#include "src/lower/bind_program.h"
#include "src/support/timer.h"

namespace {

using heddle::DType;
using heddle::Tensor;

constexpr int64_t kLong = 1 << 20, kMiddle = 1 << 18, kShort = 1 << 13;
constexpr int kThreads = 2;

/// Tables of one bind; owns their elements.
struct Tables {
  std::vector<heddle::TableDeclaration> declarations;
  std::vector<std::vector<int32_t>> numbers;
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<Tensor> views;

  void add(const char* name, std::vector<int32_t> values) {
    numbers.push_back(std::move(values));
    declarations.push_back({name, DType::Int32, 1});
    views.push_back(Tensor::dense(numbers.back().data(), {static_cast<int64_t>(numbers.back().size())}, DType::Int32));
  }
  void add_matrix(const char* name, std::vector<uint8_t> values, int64_t rows) {
    bytes.push_back(std::move(values));
    declarations.push_back({name, DType::UInt8, 2});
    views.push_back(Tensor::dense(bytes.back().data(), {rows, static_cast<int64_t>(bytes.back().size()) / rows}, DType::UInt8));
  }
};

/// `count` documents of random lengths.
std::vector<int32_t> documents(int64_t size, int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> doc(static_cast<size_t>(size));
  for (int i = 1; i < count; ++i) ++doc[random() % doc.size()];
  std::partial_sum(doc.begin(), doc.end(), doc.begin());
  return doc;
}

std::vector<int32_t> random_below(int64_t size, uint32_t end, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> values(static_cast<size_t>(size));
  for (int32_t& value : values) value = static_cast<int32_t>(random() % end);
  return values;
}

/// 1 at about one of `every` places.
std::vector<int32_t> marks(int64_t size, uint32_t every, uint32_t seed) {
  std::vector<int32_t> values = random_below(size, every, seed);
  for (int32_t& value : values) value = value == 0;
  return values;
}

/// Documents and prefixes as a raw matrix, or bits of which one of 1,000 is set.
std::vector<uint8_t> matrix(int64_t size, bool blocky) {
  const std::vector<int32_t> doc = documents(size, 100, 4);
  std::vector<uint8_t> bits(static_cast<size_t>(size * size));
  std::mt19937 random(9);
  for (size_t i = 0; i < bits.size(); ++i) {
    const size_t q = i / doc.size(), k = i % doc.size();
    bits[i] = blocky ? doc[q] == doc[k] && q >= k : random() % 1000 == 0;
  }
  return bits;
}

struct Case {
  std::string name, formula;
  int64_t size;
  std::function<void(Tables&)> fill;
  int64_t batch = 1;
};

std::vector<Case> cases() {
  const auto doc = [](int64_t size, int count) { return [=](Tables& t) { t.add("doc", documents(size, count, 1)); }; };
  return {
      {"documents_10000_1M", "doc[q] == doc[k] && q >= k", kLong, doc(kLong, 10'000)},
      {"documents_2500_256K", "doc[q] == doc[k] && q >= k", kMiddle, doc(kMiddle, 2'500)},
      {"documents_window_1M", "doc[q] == doc[k] && q >= k && q - k < 4096", kLong, doc(kLong, 100)},
      {"documents_shuffled_8K", "doc[q] == doc[k]", kShort, [](Tables& t) { t.add("doc", random_below(kShort, 100, 1)); }},
      {"lengths_64_64K", "k < len[b]", 1 << 16, [](Tables& t) { t.add("len", random_below(64, 1 << 16, 2)); }, 64},
      {"prefix_1M", "k <= q || k < pre[q]", kLong, [](Tables& t) { t.add("pre", random_below(kLong, 4096, 3)); }},
      {"block_list_64K", "rnd[q / 64 * 1024 + k / 64] == 1", 1 << 16, [](Tables& t) { t.add("rnd", marks(1 << 20, 16, 5)); }},
      {"vertical_slash_64K", "q >= k && (vertical[k] == 1 || slash[q - k] == 1)", 1 << 16,
       [](Tables& t) { t.add("slash", marks(1 << 16, 1024, 6)), t.add("vertical", marks(1 << 16, 1024, 7)); }},
      {"matrix_documents_8K", "bits[q, k] == 1", kShort, [](Tables& t) { t.add_matrix("bits", matrix(kShort, true), kShort); }},
      {"matrix_random_8K", "bits[q, k] == 1", kShort, [](Tables& t) { t.add_matrix("bits", matrix(kShort, false), kShort); }},
  };
}

heddle::BindProgram program(const Case& one, const Tables& tables) {
  heddle::Parameters parameters;
  for (const heddle::TableDeclaration& table : tables.declarations) {
    parameters.emplace(table.name, heddle::TableOf{table.dtype});
  }
  heddle::dsl::ParseOptions options;
  options.parameters = parameters;
  return heddle::lower::bind_program(heddle::ir::guard_divisors(heddle::dsl::parse_formula(one.formula, options)), {}, tables.declarations);
}

heddle::runtime::BindInput input_of(const Case& one, const heddle::BindProgram& mask, const Tables& tables) {
  heddle::runtime::BindInput input;
  input.program = &mask;
  input.tables = tables.views;
  input.batch = one.batch, input.sq = input.sk = one.size;
  return input;
}

/// Binds `inputs` one after the other in every iteration; reports the time of one.
void measure(benchmark::State& state, const std::vector<heddle::runtime::BindInput>& inputs) {
  heddle::runtime::ThreadPool pool(kThreads);
  heddle::runtime::TileLists lists;
  double best = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    const heddle::support::Timer timer;
    for (const heddle::runtime::BindInput& input : inputs) lists = bind_tiles(input, pool);
    const double milliseconds = timer.milliseconds() / static_cast<double>(inputs.size());
    state.SetIterationTime(milliseconds * 1e-3);
    best = std::min(best, milliseconds);
  }
  state.counters["best_ms"] = best;
  state.counters["full"] = static_cast<double>(lists.full_tiles);
  state.counters["partial"] = static_cast<double>(lists.partial_tiles);
  state.counters["bytes"] = static_cast<double>(lists.bytes());
}

void measure_one(benchmark::State& state, const Case& one) {
  Tables tables;
  one.fill(tables);
  const heddle::BindProgram mask = program(one, tables);
  measure(state, {input_of(one, mask, tables)});
}

void measure_hundred(benchmark::State& state) {
  std::vector<Tables> tables(100);
  const Case one{"", "doc[q] == doc[k] && q >= k", kMiddle, {}};
  for (size_t i = 0; i < tables.size(); ++i) tables[i].add("doc", documents(kMiddle, 1000 + 20 * static_cast<int>(i), static_cast<uint32_t>(i)));
  const heddle::BindProgram mask = program(one, tables[0]);
  std::vector<heddle::runtime::BindInput> inputs;
  for (const Tables& each : tables) inputs.push_back(input_of(one, mask, each));
  measure(state, inputs);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::vector<Case> all = cases();
  for (const Case& one : all) {
    const auto run = [&one](benchmark::State& state) { measure_one(state, one); };
    benchmark::RegisterBenchmark(("bind/" + one.name).c_str(), run)->UseManualTime()->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark("bind/documents_100_tables_256K", measure_hundred)->UseManualTime()->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
