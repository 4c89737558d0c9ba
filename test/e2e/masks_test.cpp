// Masks by text and by the C++ builder: one kernel, and numbers equal to a predicate in plain C++.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "test/e2e/attention_fixture.h"

namespace heddle::test {
namespace {

struct MaskCase {
  std::string name, text;
  Mask built;
  Allows allows;
};

void PrintTo(const MaskCase& one, std::ostream* out) { *out << one.text; }

class Masks : public testing::TestWithParam<MaskCase> {};

TEST_P(Masks, TextAndBuilderAreOneKernel) {
  Engine engine(without_disk());
  const Attention text = engine.attention(masked(Mask::parse(GetParam().text)));
  const Attention built = engine.attention(masked(GetParam().built));
  EXPECT_EQ(built.report().key, text.report().key);
  EXPECT_EQ(built.report().origin, KernelReport::Origin::Memory);
  EXPECT_EQ(engine.compilations(), 1);
}

TEST_P(Masks, Right) {
  Engine engine(without_disk());
  const AttentionSpec spec = masked(Mask::parse(GetParam().text));
  expect_right(engine, spec, {.batch = 2, .heads = 2, .kv_heads = 1, .sq = 131, .sk = 149}, GetParam().allows);
  expect_right(engine, spec, {.batch = 1, .heads = 2, .kv_heads = 2, .sq = 70, .sk = 20}, GetParam().allows);
}

TEST_P(Masks, RightWithoutFacts) {
  Engine engine(without_disk());
  AttentionSpec spec = masked(Mask::parse(GetParam().text));
  spec.use_nests = false;
  expect_right(engine, spec, {.batch = 1, .heads = 2, .kv_heads = 1, .sq = 131, .sk = 149}, GetParam().allows);
}

std::vector<MaskCase> cases() {
  using I = Index;
  return {
      {"Everything", "true", Mask(), [](const Pair&) { return true; }},
      {"Nothing", "false", Mask(Condition(false)), [](const Pair&) { return false; }},
      {"Causal", "k <= q", mask([](I q, I k) { return k <= q; }), [](const Pair& p) { return p.k <= p.q; }},
      {"CausalBottomRight", "k <= q + (Sk - Sq)", Mask::causal(Mask::Align::BottomRight),
       [](const Pair& p) { return p.k <= p.q + p.sk - p.sq; }},
      {"AntiCausal", "k > q", mask([](I q, I k) { return k > q; }), [](const Pair& p) { return p.k > p.q; }},
      {"Window", "k <= q && q - k < 40", mask([](I q, I k) { return k <= q && q - k < 40; }),
       [](const Pair& p) { return p.k <= p.q && p.q - p.k < 40; }},
      {"Longformer", "abs(q - k) <= 16 || k < 5 || q < 5", mask([](I q, I k) { return abs(q - k) <= 16 || k < 5 || q < 5; }),
       [](const Pair& p) { return std::abs(p.q - p.k) <= 16 || p.k < 5 || p.q < 5; }},
      {"Dilated", "(q - k) % 4 == 0", mask([](I q, I k) { return (q - k) % 4 == 0; }),
       [](const Pair& p) { return floor_mod(p.q - p.k, 4) == 0; }},
      {"Blocks", "q / 16 == k / 16", mask([](I q, I k) { return q / 16 == k / 16; }),
       [](const Pair& p) { return p.q / 16 == p.k / 16; }},
      {"FloorOfNegatives", "(k - q) / 32 == -2", mask([](I q, I k) { return (k - q) / 32 == -2; }),
       [](const Pair& p) { return floor_div(p.k - p.q, 32) == -2; }},
      {"OnePair", "q == 3 && k == 2", mask([](I q, I k) { return q == 3 && k == 2; }),
       [](const Pair& p) { return p.q == 3 && p.k == 2; }},
      {"NotAffine", "(q * q + k) % 7 < 3", mask([](I q, I k) { return (q * q + k) % 7 < 3; }),
       [](const Pair& p) { return (p.q * p.q + p.k) % 7 < 3; }},
      {"ByHead", "h == 0 && k <= q || h == 1 && k >= q",
       mask([](I h, I q, I k) { return (h == 0 && k <= q) || (h == 1 && k >= q); }),
       [](const Pair& p) { return p.h == 0 ? p.k <= p.q : p.k >= p.q; }},
      {"ByBatch", "k <= q + b * 10", mask([](I b, I, I q, I k) { return k <= q + b * 10; }),
       [](const Pair& p) { return p.k <= p.q + p.b * 10; }},
      {"Choice", "k < (q < 50 ? 20 : max(q, 60) + 3)", mask([](I q, I k) { return k < select(q < 50, I(20), max(q, 60) + 3); }),
       [](const Pair& p) { return p.k < (p.q < 50 ? 20 : std::max<int64_t>(p.q, 60) + 3); }},
      {"ManyDigits", "k % 8 == q / 8 % 8 && !(k / 8 == q % 8)",
       mask([](I q, I k) { return k % 8 == q / 8 % 8 && !(k / 8 == q % 8); }),
       [](const Pair& p) { return p.k % 8 == p.q / 8 % 8 && p.k / 8 != p.q % 8; }},
  };
}

INSTANTIATE_TEST_SUITE_P(E2e, Masks, testing::ValuesIn(cases()), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace heddle::test
