// Everything that facts say of random formulas, against brute force at small and odd sizes.
#include <gtest/gtest.h>

#include "test/analysis/random_formula_check.h"

namespace heddle::analysis::test {
namespace {

class RandomFormulas : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomFormulas, FactsAndCountsAreThoseOfBruteForce) {
  for (uint64_t seed = 0; seed < 12; ++seed) ASSERT_EQ(check_random_formula(GetParam() * 1000 + seed), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFormulas, testing::Range(uint64_t{0}, uint64_t{8}));

}  // namespace
}  // namespace heddle::analysis::test
