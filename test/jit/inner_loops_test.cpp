// The inner loops of emitted kernels keep to the registers and use the instructions their target has.
#include <gtest/gtest.h>

#include "test/codegen/emitted_kernel.h"
#include "test/jit/assembly_text.h"

namespace heddle::test {
namespace {

std::string assembly_of(const KernelSpec& spec) {
  return jit::assembly(codegen::emit_kernel(schedule_of(problem_of(spec)), "kernel"));
}

TEST(AssemblyText, FindsInnermostLoops) {
  const std::vector<AssemblyLoop> loops = innermost_loops(
      "f:\n.LBB0_1:\n\tvmovaps (%rax), %ymm0\n.LBB0_2:                # comment\n\taddq $1, %rcx\n\tjne .LBB0_2\n\tvmovaps "
      "32(%rsp), %ymm1\n"
      "\tjne\t.LBB0_1\n\tjmp .LBB0_9\n.LBB0_9:\n\tret\n");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_TRUE(loops[0].has("addq"));
  EXPECT_FALSE(loops[0].has("(%rsp)"));
}

/// The register-tiled products: elements from memory are broadcast and multiplied into sums.
bool is_micro_kernel(const AssemblyLoop& loop) {
  const bool broadcasts = std::any_of(loop.lines.begin(), loop.lines.end(), [](const std::string& line) {
    const bool broadcast = line.find("vbroadcastss\t") != std::string::npos || line.find("{1to") != std::string::npos;
    return broadcast && line.find(".LCPI") == std::string::npos && line.find('(') != std::string::npos;
  });
  return broadcasts && loop.has("vfmadd231ps");
}

class InnerLoops : public testing::TestWithParam<std::tuple<int64_t, const char*, const char*>> {};

TEST_P(InnerLoops, OfProductsDoNotSpill) {
  const auto [head_dim, mask, score] = GetParam();
  for (const char* name : {"cpu:avx2", "cpu:avx512"}) {
    const Target target = Target::parse(name);
    KernelSpec spec = {.mask = mask, .score = score, .head_dim = head_dim, .value_dim = head_dim};
    spec.target = target;
    int products = 0;
    for (const AssemblyLoop& loop : innermost_loops(assembly_of(spec))) {
      if (!is_micro_kernel(loop)) continue;
      ++products;
      EXPECT_FALSE(loop.has("(%rsp)") || loop.has("(%rbp)") || loop.has("call")) << target.to_string() << "\n" << loop.text();
      EXPECT_TRUE(loop.has(target.level == CpuLevel::Avx512 ? "zmm" : "ymm")) << loop.text();
    }
    EXPECT_GE(products, 2) << "QK and PV";
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, InnerLoops,
                         testing::Combine(testing::Values(64, 128),
                                          testing::Values("", "k <= q", "abs(q - k) <= 256 || k < 16"),
                                          testing::Values("", "softcap(s, 30.0)")));

TEST(Instructions, OfAvx2KernelsAreAvx2) {
  KernelSpec spec = {.mask = "k <= q"};
  spec.target = Target::parse("cpu:avx2");
  const std::string text = assembly_of(spec);
  EXPECT_EQ(text.find("zmm"), std::string::npos);
  EXPECT_EQ(text.find("%k1"), std::string::npos) << "mask registers are AVX-512";
  EXPECT_NE(text.find("ymm"), std::string::npos);
}

/// Products by multiplication and addition, four lanes wide; of neither are there calls.
TEST(Instructions, OfX86_64KernelsAreSse2) {
  KernelSpec spec = {.mask = "k <= q && (q + k) % 3 != 1", .score = "softcap(s, 30.0) + log(abs(s))", .head_dim = 64, .value_dim = 64};
  spec.target = Target::parse("cpu:x86-64");
  const std::string text = assembly_of(spec);
  for (const char* newer : {"ymm", "vmulps", "fmadd", "roundps", "pmulld", "rintf", "fmaf"}) EXPECT_EQ(text.find(newer), std::string::npos) << newer;
  int products = 0;
  for (const AssemblyLoop& loop : innermost_loops(text)) {
    if (!loop.has("mulps") || !loop.has("shufps") || loop.has(".LCPI")) continue;
    ++products;
    EXPECT_FALSE(loop.has("(%rsp)") || loop.has("call")) << loop.text();
  }
  EXPECT_GE(products, 2) << "QK and PV";
}

TEST(Instructions, OfAarch64KernelsAreNeon) {
  KernelSpec spec = {.mask = "k <= q && q - k < 256", .head_dim = 64, .value_dim = 64};
  spec.target = Target::parse("cpu:aarch64");
  const std::string text = assembly_of(spec);
  EXPECT_NE(text.find("fmla\tv"), std::string::npos);
  EXPECT_EQ(text.find("%rsp"), std::string::npos);
  for (size_t at = text.find("\tbl\t"); at != std::string::npos; at = text.find("\tbl\t", at + 1)) {
    EXPECT_EQ(text.compare(at + 4, 6, "kernel"), 0) << text.substr(at, 40);  // steps of the kernel itself
  }
}

}  // namespace
}  // namespace heddle::test
