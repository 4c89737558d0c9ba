// Row and column hulls against brute force, and against the sampled rows of the case file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "src/ir/evaluate.h"
#include "test/analysis/mask_families.h"
#include "test/analysis/random_mask.h"

namespace heddle::analysis::test {
namespace {

std::vector<MaskFamily> all() {
  std::vector<MaskFamily> families = mask_families();
  for (MaskFamily& family : image_families()) families.push_back(std::move(family));
  return families;
}

MaskFacts facts_of(const MaskFamily& family, AnalysisOptions options = {}) {
  std::vector<std::string> dynamic;
  for (const auto& [name, value] : family.dynamic) {
    if (name != "h") dynamic.push_back(name);
  }
  return MaskFacts(parse_mask(family.text, dynamic), options);
}

/// Row hulls that take more isl operations than a stage may have.
bool over_budget(const MaskFamily& family, bool transposed) {
  return !transposed && (family.name == "window and stride without a column class" || family.name == "causal without own block");
}

class HullsOfFamilies : public testing::TestWithParam<size_t> {};

TEST_P(HullsOfFamilies, AreThoseOfTheFormula) {
  const MaskFamily family = all()[GetParam()];
  const MaskFacts facts = facts_of(family);
  for (const bool transposed : {false, true}) {
    const std::optional<LineHulls> hulls = facts.hulls(transposed);
    ASSERT_EQ(hulls.has_value(), !over_budget(family, transposed)) << family.name << "\n" << print(facts, {});
    if (!hulls) continue;
    EXPECT_EQ(hulls->proof, Proof::Symbolic);
    for (const Lengths lengths : {Lengths{1, 1}, {65, 600}, {333, 129}, {257, 257}, {601, 513}, {1, 97}, {97, 1}}) {
      ASSERT_EQ(check_hulls(*hulls, transposed, {facts.mask(), lengths, family.dynamic}), "") << family.name << "\n" << print(facts, {});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HullsOfFamilies, testing::Range(size_t{0}, all().size()));

class HullsOfRandomMasks : public testing::TestWithParam<uint64_t> {};

TEST_P(HullsOfRandomMasks, AreThoseOfTheFormula) {
  const ir::Expr mask = parse_mask(RandomMask(GetParam()).text());
  const Lengths fixed{47, 61};
  const MaskFacts facts(mask), at_lengths(mask, {.budget = 3'000, .lengths = fixed});
  for (const bool transposed : {false, true}) {
    if (const auto hulls = facts.hulls(transposed)) {
      for (const Lengths lengths : {Lengths{83, 149}, {149, 83}, {1, 53}, {2, 1}}) {
        ASSERT_EQ(check_hulls(*hulls, transposed, {mask, lengths, {}}), "") << print(facts, {});
      }
    }
    if (const auto hulls = at_lengths.hulls(transposed)) {
      ASSERT_EQ(check_hulls(*hulls, transposed, {mask, fixed, {}}), "") << print(at_lengths, {});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, HullsOfRandomMasks, testing::Range(uint64_t{0}, uint64_t{96}));

/// Masks of the case file without tables: the hulls of the sampled rows.
TEST(Hulls, AreThoseOfTheCaseFile) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/test/cases/masks.json");
  const auto document = nlohmann::json::parse(file);
  int checked = 0, enumerated = 0;
  for (const auto& one : document["cases"]) {
    if (one.contains("tables") || one.contains("lcg_tables")) continue;
    const Lengths lengths{one["seq_q"], one["seq_k"]};
    const MaskFacts facts(parse_mask(one["formula"]), {.lengths = lengths});
    const std::optional<LineHulls> hulls = facts.hulls();
    enumerated += !hulls;
    for (const auto& row : one["results"]["sample_rows"]) {
      if (!hulls) break;
      std::string wrong;
      const Ends found = ends_of(*hulls, {{"q", row["row"]}, {"Sq", lengths.sq}, {"Sk", lengths.sk}}, wrong);
      const Ends wanted = row["count"] == 0 ? Ends{} : Ends{row["first"], row["last"]};
      EXPECT_EQ(wrong, "") << one["name"];
      EXPECT_EQ(found, wanted) << one["name"] << " row " << row["row"];
      ++checked;
    }
  }
  EXPECT_GE(checked, 600);
  EXPECT_LE(enumerated, 10);
}

TEST(Hulls, SayWhereRowsAndColumnsAreEmpty) {
  const auto empty = [](const char* formula, bool transposed) { return ir::print(MaskFacts(parse_mask(formula)).hulls(transposed)->empty); };
  EXPECT_EQ(empty("k <= q", false), "false");
  EXPECT_EQ(empty("k <= q || k == 0", true), "k > Sq - 1");
  EXPECT_EQ(empty("q % 2 == 0", false), "0 != q % 2");
  EXPECT_EQ(empty("q < 0", false), "true");
}

TEST(Hulls, AreNotThereWhereTheMaskIsEnumerated) {
  const MaskFacts facts(parse_mask("(q * k) % 7 <= 3"));
  EXPECT_FALSE(facts.hulls() || facts.hulls(true));
  EXPECT_NE(print(facts, {}).find("row hulls: only by enumeration"), std::string::npos);
}

TEST(Hulls, AreAskedOnce) {
  const MaskFacts facts(parse_mask("k <= q"));
  facts.rows();
  const size_t before = facts.costs().size();
  facts.hulls();
  const size_t asked = facts.costs().size();
  EXPECT_GT(asked, before);
  facts.hulls();
  EXPECT_EQ(facts.costs().size(), asked);
}

TEST(Mentions, OfBatchesAndHeads) {
  const auto mentions = [](const char* formula) {
    const MaskFacts facts(parse_mask(formula));
    return std::pair(facts.mentions_batch(), facts.mentions_head());
  };
  EXPECT_EQ(mentions("k <= q"), std::pair(false, false));
  EXPECT_EQ(mentions("k <= q + b"), std::pair(true, false));
  EXPECT_EQ(mentions("k <= q && q - k < 64 * (h + 1)"), std::pair(false, true));
  EXPECT_EQ(mentions("k <= q + b + h"), std::pair(true, true));
  EXPECT_EQ(mentions("k <= q + 0 * h && (true || b == 0)"), std::pair(false, false));
}

}  // namespace
}  // namespace heddle::analysis::test
