// Counts of masks that read tables, against the plain evaluator at every pair.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "dsl/parser.h"
#include "heddle/error.h"
#include "src/analysis/cells.h"
#include "src/analysis/counts.h"
#include "src/analysis/enumerate.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis::test {
namespace {

constexpr Lengths kLengths{83, 611};

/// Tables of every type and layout, with contents at random.
struct Contents {
  std::vector<int32_t> rows = std::vector<int32_t>(kLengths.sq), strided = std::vector<int32_t>(3 * kLengths.sk);
  std::vector<int64_t> wide = std::vector<int64_t>(50);
  std::vector<uint8_t> bytes = std::vector<uint8_t>(kLengths.sk), bits = std::vector<uint8_t>(kLengths.sq * kLengths.sk);
  ir::Tables tables;

  explicit Contents(uint32_t seed) {
    std::mt19937 random(seed);
    const auto fill = [&](auto& values, int limit) {
      for (auto& value : values) value = static_cast<std::remove_reference_t<decltype(value)>>(random() % limit);
    };
    fill(rows, 9), fill(strided, 9), fill(wide, 700), fill(bytes, 3), fill(bits, 2);
    tables["rows"] = Tensor::dense(rows.data(), {kLengths.sq}, DType::Int32);
    tables["backward"] = {strided.data() + 3 * (kLengths.sk - 1), DType::Int32, {kLengths.sk}, {-3}};
    tables["wide"] = Tensor::dense(wide.data(), {5, 10}, DType::Int64);
    tables["flag"] = Tensor::dense(bytes.data(), {kLengths.sk}, DType::Bool);
    tables["bits"] = Tensor::dense(bits.data(), {kLengths.sq, kLengths.sk}, DType::UInt8);
    tables["keys"] = {bytes.data(), DType::UInt8, {1, kLengths.sk}, {77, 1}};
  }
};

ir::Expr parse(const std::string& text) {
  const Parameters declared = {{"rows", TableOf{}}, {"backward", TableOf{}}, {"wide", TableOf{DType::Int64}}, {"flag", TableOf{DType::Bool}},
                               {"bits", TableOf{DType::UInt8}}, {"keys", TableOf{DType::UInt8}}};
  return ir::guard_divisors(dsl::parse_formula(text, {.parameters = declared, .origin = "mask"}));
}

/// Only the tables that the mask reads.
ir::Tables used(const ir::Expr& mask, const ir::Tables& all) {
  ir::Tables found;
  for (const auto& [name, use] : ir::tables(mask)) found[name] = all.at(name);
  return found;
}

const char* const kMasks[] = {"rows[q] == backward[k]", "flag[k] == 1 && rows[q] < 5", "bits[q, k] == 1 || k == q", "keys[q, k] == 2",
                              "k >= 5 && backward[k - 5] < rows[q]", "wide[rows[q] % 5, k / 64] > k", "wide[q - k, k - q] >= q + k",
                              "backward[rows[q] * 40 + k / 7] == 3", "k < wide[2, 3]", "q / rows[q] <= k % wide[q % 5, q / 9]"};

TEST(TableCounts, BitsAreThoseOfTheEvaluator) {
  const Contents contents(7);
  for (const char* text : kMasks) {
    const ir::Expr mask = parse(text);
    const auto tables = used(mask, contents.tables);
    const auto bits = mask_bits(mask, kLengths, 0, kLengths.sq, {{}, tables});
    const ir::CompiledExpr expected(mask, {"q", "k"}, tables);
    const int64_t words = static_cast<int64_t>(bits.size()) / kLengths.sq;
    for (int64_t q = 0; q < kLengths.sq; ++q) {
      for (int64_t k = 0; k < kLengths.sk; ++k) {
        const int64_t at[] = {q, k};
        ASSERT_EQ(bits[q * words + k / 64] >> k % 64 & 1, static_cast<uint64_t>(expected.run_int(at))) << text << " at " << q << ", " << k;
      }
    }
  }
}

TEST(TableCounts, FactsAreEnumeratedAndCountsExact) {
  const Contents contents(8);
  const ir::Expr mask = parse("bits[q, k] == 1 && flag[k] == 1");
  const MaskFacts facts(mask, {.lengths = kLengths});
  EXPECT_EQ(facts.proof(), Proof::Enumerated);
  EXPECT_FALSE(facts.tiles({64, 64}));
  int64_t expected = 0;
  for (int64_t i = 0; i < kLengths.sq * kLengths.sk; ++i) expected += contents.bits[i] == 1 && contents.bytes[i % kLengths.sk] != 0;
  const auto tables = used(mask, contents.tables);
  EXPECT_EQ(count(facts, kLengths, {}, {}, tables).nnz, expected);
  const CellGrid grid = count_cells(facts, kLengths, {16, 32}, 2, {}, tables);
  EXPECT_EQ(std::accumulate(grid.allowed.begin(), grid.allowed.end(), int64_t{0}), expected);
  EXPECT_NE(print(facts, {64, 64}).find("reads tables: counted with their contents"), std::string::npos) << print(facts, {64, 64});
}

TEST(TableCounts, ThreadsAgreeAndEmptyLengthsReadNothing) {
  const Contents contents(9);
  const ir::Expr mask = parse("rows[q] == backward[k]");
  const MaskFacts facts(mask, {.lengths = kLengths});
  const CountRequest wanted{.pieces = true, .columns = true, .checksum = true, .threads = 1};
  CountRequest threaded = wanted;
  threaded.threads = 3;
  const MaskCounts one = count(facts, kLengths, wanted, {}, used(mask, contents.tables));
  const MaskCounts three = count(facts, kLengths, threaded, {}, used(mask, contents.tables));
  EXPECT_EQ(one.fnv1a64, three.fnv1a64);
  EXPECT_EQ(one.row_runs_total, three.row_runs_total);
  EXPECT_EQ(count(facts, {0, 5}, {}, {}, used(mask, contents.tables)).nnz, 0);
}

TEST(TableCounts, TablesThatDoNotFitAreRefused) {
  const Contents contents(10);
  const ir::Expr mask = parse("rows[q] == h && flag[k] == 1");
  const MaskFacts facts(mask, {.lengths = kLengths});
  const auto refused = [&](const ir::Tables& tables, Lengths lengths) -> std::string {
    try {
      count(facts, lengths, {}, {{"h", 3}}, tables);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  const auto tables = used(mask, contents.tables);
  EXPECT_EQ(refused(tables, kLengths), "");
  EXPECT_NE(refused({}, kLengths).find("the table 'flag' is missing"), std::string::npos);
  EXPECT_NE(refused(tables, {kLengths.sq, 600}).find("the table 'flag' has shape [611]; expected [600]"), std::string::npos);
}

TEST(TableCounts, LargeMasksInWellBelowASecond) {
  constexpr int64_t kLength = 8192;
  std::vector<int32_t> documents(kLength);
  for (int64_t i = 0; i < kLength; ++i) documents[i] = static_cast<int32_t>(i / 100);
  const ir::Expr mask = parse("rows[q] == rows[k] && k <= q");
  const MaskFacts facts(mask, {.lengths = Lengths{kLength, kLength}});
  const MaskCounts counts = count(facts, {kLength, kLength}, {}, {}, {{"rows", Tensor::dense(documents.data(), {kLength}, DType::Int32)}});
  EXPECT_EQ(counts.nnz, 81 * 5050 + 92 * 93 / 2);
  EXPECT_LT(counts.milliseconds, 5000);
}

}  // namespace
}  // namespace heddle::analysis::test
