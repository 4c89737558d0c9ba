#include "src/ir/attention_problem.h"
#include <gtest/gtest.h>
#include <functional>
#include <set>
#include "heddle/formula.h"

namespace heddle::ir {
namespace {

AttentionProblem problem(const std::string& mask, const std::string& score = "s") {
  AttentionProblem result;
  result.mask = Mask::parse(mask, {{"off", Dynamic{}}, {"a", Dynamic{}}}).node();
  result.score = Score::parse(score, {{"t", Dynamic{true}}, {"off", Dynamic{}}}).node();
  result.target = Target{CpuLevel::Avx512};
  return result;
}

TEST(CanonicalText, ListsEveryFieldOnALine) {
  EXPECT_EQ(canonical_text(problem("q + (3 - 3) >= k", "s * t + off")),
            "mask q >= k\nscore s * t + off\nparameters off:int t:real\nhead_dim 64\nvalue_dim 64\nlse false\ntarget cpu:avx512\n"
            "tile_rows auto\nuse_nests auto\n");
}

TEST(CanonicalText, NullFormulasAreTheDefaults) {
  AttentionProblem plain = problem("true");
  EXPECT_EQ(plain.score, nullptr);
  const std::string text = canonical_text(plain);
  plain.mask = nullptr;
  EXPECT_EQ(canonical_text(plain), text);
}

TEST(CanonicalText, EveryFieldMatters) {
  const std::vector<std::function<void(AttentionProblem&)>> changes = {
      [](AttentionProblem&) {}, [](AttentionProblem& p) { p.mask = Mask::parse("k < q").node(); },
      [](AttentionProblem& p) { p.score = Score::parse("s * 2").node(); }, [](AttentionProblem& p) { p.head_dim = 32; },
      [](AttentionProblem& p) { p.value_dim = 32; }, [](AttentionProblem& p) { p.lse = true; },
      [](AttentionProblem& p) { p.target.level = CpuLevel::Avx2; }, [](AttentionProblem& p) { p.options.tile_rows = 32; },
      [](AttentionProblem& p) { p.options.use_nests = false; }, [](AttentionProblem& p) { p.options.use_nests = true; }};
  std::set<std::string> texts;
  for (const auto& change : changes) {
    AttentionProblem changed = problem("k <= q");
    change(changed);
    texts.insert(canonical_text(changed));
  }
  EXPECT_EQ(texts.size(), changes.size());
}

TEST(ParameterOrder, SortsIntegersThenReals) {
  const ParameterOrder order = parameter_order(problem("q + off >= k && a < k", "s * t + off"));
  EXPECT_EQ(order.ints, (std::vector<std::string>{"a", "off"}));
  EXPECT_EQ(order.reals, (std::vector<std::string>{"t"}));
}

TEST(ParameterOrder, KeepsParametersThatSimplifyAway) {
  EXPECT_EQ(parameter_order(problem("off * 0 == q")).ints, (std::vector<std::string>{"off"}));
}

}  // namespace
}  // namespace heddle::ir
