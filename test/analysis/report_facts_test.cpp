// What users of similar tools reported about analysing masks (ids of the field reports in the names).
#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <string>

#include "dsl/parser.h"
#include "src/analysis/counts.h"
#include "src/ir/rewrite.h"
#include "test/analysis/facts_check.h"

namespace heddle::analysis::test {
namespace {

/// Kibibytes of /proc/self/status.
int64_t memory(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kibibytes = 0;
    if (word == name + ":" && status >> kibibytes) return kibibytes;
  }
  return -1;
}

/// The largest resident memory that `work` adds, in kibibytes.
template <typename Work>
int64_t peak_of(const Work& work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts anew
  const int64_t before = memory("VmRSS");
  work();
  return memory("VmHWM") - before;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(FieldReports, R022_TheSquareIsNeverHeld) {
  const ir::Expr mask = parse_mask("q >= k && q - k < 4096");
  for (const int64_t length : {int64_t{96'000}, int64_t{1'000'000}}) {
    MaskCounts counts;
    double fastest = 1e9;
    for (int tries = 0; tries < 3; ++tries) {
      const double start = processor_seconds();
      const int64_t peak = peak_of([&] { counts = count(MaskFacts(mask), {length, length}, {.threads = 1}); });
      fastest = std::min(fastest, processor_seconds() - start);
      ASSERT_GE(peak, 0);
      EXPECT_LT(peak, 64 * 1024) << length;
    }
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(fastest, 0.1) << length;
#endif
    EXPECT_EQ(counts.nnz, 4096 * length - int64_t{4096} * 4095 / 2);
    EXPECT_EQ(counts.proof, Proof::Symbolic);
  }
}

TEST(FieldReports, R025_PairsAreComparedWithPairsAndTilesWithTiles) {
  constexpr int64_t kTokens = 100;
  std::vector<int32_t> doc(kTokens);
  for (int64_t i = 0; i < kTokens; ++i) doc[static_cast<size_t>(i)] = static_cast<int32_t>(i < 7 ? 0 : i < 30 ? 1 : i < 31 ? 2 : i < 77 ? 3 : 4);
  const ir::Expr mask = ir::guard_divisors(dsl::parse_formula("doc[q] == doc[k] && q >= k", {.parameters = {{"doc", TableOf{}}}, .origin = "mask"}));
  int64_t allowed = 0;
  for (size_t q = 0; q < kTokens; ++q) {
    for (size_t k = 0; k <= q; ++k) allowed += doc[q] == doc[k];
  }
  const MaskCounts counts = count(MaskFacts(mask), {kTokens, kTokens}, {.tiles = {{16, 16}, {64, 64}, {128, 128}}}, {},
                                  {{"doc", Tensor::dense(doc.data(), {kTokens}, DType::Int32)}});
  EXPECT_EQ(counts.nnz, allowed);
  EXPECT_DOUBLE_EQ(counts.density({kTokens, kTokens}), static_cast<double>(allowed) / 10'000);
  for (const auto& [shape, tiles] : counts.tiles) {
    const int64_t across = (kTokens + shape.cols - 1) / shape.cols, all = across * across;
    EXPECT_EQ(tiles.full + tiles.partial + tiles.empty, all) << shape.rows;
    EXPECT_DOUBLE_EQ(tiles.density(), static_cast<double>(tiles.full + tiles.partial) / static_cast<double>(all)) << shape.rows;
    EXPECT_GE(tiles.density(), 0) << shape.rows;
    EXPECT_LE(tiles.density(), 1) << shape.rows;
    EXPECT_LE(counts.nnz, tiles.visited_pairs()) << shape.rows;
    EXPECT_LE(tiles.visited_pairs(), kTokens * kTokens) << shape.rows;
  }
  EXPECT_EQ(counts.tiles.at({128, 128}).visited_pairs(), kTokens * kTokens);
  EXPECT_LT(counts.tiles.at({16, 16}).visited_pairs(), kTokens * kTokens);
}

/// Where a mask names its last key, no tile or key of it is left without keys, and none in front of the first.
TEST(Facts, HoldForLengthsOfZero) {
  for (const char* text : {"k == Sk - 1", "k / 8 == (Sk - 1) / 8", "k >= Sk - 4", "q + Sk - Sq == k", "q == Sq - 1 && k % 2 == 1"}) {
    const MaskFacts facts(parse_mask(text));
    for (const Lengths lengths : {Lengths{0, 5}, {5, 0}, {0, 0}, {1, 1}, {40, 33}}) EXPECT_EQ(check_facts(facts, {{16, 16}, {8, 4}}, lengths), "") << text;
  }
}

}  // namespace
}  // namespace heddle::analysis::test
