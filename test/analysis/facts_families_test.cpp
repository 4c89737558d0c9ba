#include <gtest/gtest.h>
#include "test/analysis/mask_families.h"

namespace heddle::analysis::test {
namespace {

std::vector<std::string> names(const Ints& ints) {
  std::vector<std::string> result;
  for (const auto& [name, value] : ints) {
    if (name != "h") result.push_back(name);
  }
  return result;
}

MaskFacts facts_of(const MaskFamily& family, AnalysisOptions options = {}) {
  return MaskFacts(parse_mask(family.text, names(family.dynamic)), options);
}

class Families : public testing::TestWithParam<MaskFamily> {};

TEST_P(Families, AgreeWithTheFormula) {
  const MaskFamily& family = GetParam();
  const MaskFacts facts = facts_of(family);
  for (const Lengths lengths : {Lengths{1, 1}, {64, 64}, {100, 333}, {333, 129}, {257, 257}, {65, 600}, {600, 515}}) {
    ASSERT_EQ(check_facts(facts, {{64, 64}, {16, 16}}, lengths, family.dynamic), "") << print(facts, {});
  }
}

INSTANTIATE_TEST_SUITE_P(All, Families, testing::ValuesIn(mask_families()),
                         [](const auto& param) { return "f" + std::to_string(param.index); });

class Images : public testing::TestWithParam<MaskFamily> {};

TEST_P(Images, AgreeWithTheFormula) {
  const MaskFamily& family = GetParam();
  const MaskFacts facts = facts_of(family);
  const int64_t w = family.line;
  for (const Lengths lengths : {Lengths{9 * w, 9 * w}, {9 * w + 5, 9 * w + 3}, {std::min(w, int64_t{28}) * w, std::min(w, int64_t{28}) * w}}) {
    ASSERT_EQ(check_facts(facts, {{64, 64}, {16, 16}, {32, 16}}, lengths, family.dynamic), "") << print(facts, {});
  }
}

INSTANTIATE_TEST_SUITE_P(All, Images, testing::ValuesIn(image_families()),
                         [](const auto& param) { return "f" + std::to_string(param.index); });

}  // namespace
}  // namespace heddle::analysis::test
