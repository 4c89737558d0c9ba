// Targets: each compiles everywhere; one that cannot run here refuses with the reason before anything is written.
#include <gtest/gtest.h>

#include "test/e2e/attention_fixture.h"

namespace heddle::test {
namespace {

class Targets : public testing::TestWithParam<Target> {
 protected:
  static EngineOptions options() {
    EngineOptions options = without_disk();
    options.target = GetParam();
    return options;
  }
};

TEST_P(Targets, RunRightOrRefuseWithTheReason) {
  Engine engine(options());
  const AttentionSpec spec = masked(Mask::parse("k <= q && q - k < 50"));
  std::string why;
  if (GetParam().runs_here(&why)) {
    return expect_right(engine, spec, {.batch = 1, .heads = 2, .kv_heads = 1, .sq = 150, .sk = 150},
                        [](const Pair& p) { return p.k <= p.q && p.q - p.k < 50; });
  }
  Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = 5, .sk = 5});
  const Attention attention = engine.attention(spec);
  EXPECT_EQ(engine.compilations(), 1);
  try {
    run(attention, data);
    FAIL() << "a kernel ran that this machine cannot run";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(),
              "this kernel is compiled for " + GetParam().to_string() + ", which this machine cannot run: " + why);
  }
  for (const float value : data.o) EXPECT_TRUE(std::isnan(value));
}

TEST_P(Targets, AreInTheKernelsKey) {
  Engine engine(options());
  Engine host(without_disk());
  const bool same = engine.attention(masked(Mask::parse("k <= q"))).report().key ==
                    host.attention(masked(Mask::parse("k <= q"))).report().key;
  EXPECT_EQ(same, GetParam() == Target::host());
}

INSTANTIATE_TEST_SUITE_P(E2e, Targets, testing::ValuesIn(Target::all()), [](const auto& one) {
  std::string name = one.param.to_string();
  std::erase_if(name, [](char c) { return c == ':' || c == '-'; });
  return name;
});

TEST(HostTarget, RunsHere) { EXPECT_TRUE(Target::host().runs_here()); }

}  // namespace
}  // namespace heddle::test
