// A tensor core product of NVRTC in the emulator: right on odd shapes, without a finding, and what its accesses cost.
#include <chrono>

#include "test/emulator/gemm_run.h"

namespace heddle::emulator {
namespace {

TEST(EmulatedGemm, IsRightOnOddShapesOnEveryArchitecture) {
  HEDDLE_NEEDS_NVRTC();
  for (const char* target : {"cuda:sm_80", "cuda:sm_89", "cuda:sm_90", "cuda:sm_100", "cuda:sm_120"}) {
    const Program program = program_of(kGemm, target);
    for (const GemmShape& shape : {GemmShape{1, 1, 32}, {64, 64, 64}, {65, 63, 96}, {7, 130, 32}, {129, 1, 160}}) {
      const GemmResult result = run_gemm(program, shape);
      EXPECT_TRUE(result.outcome.findings.clean()) << target << "\n" << result.outcome.findings.to_string();
      EXPECT_LT(result.error, 1e-4) << target << " " << shape.M << "x" << shape.N << "x" << shape.K;
    }
  }
}

TEST(EmulatedGemm, SwizzledTilesHaveNoBankConflictsAndCopiesAreCoalesced) {
  HEDDLE_NEEDS_NVRTC();
  const Program program = program_of(kGemm);
  const GemmResult result = run_gemm(program, {64, 64, 128});
  const InstructionCount matrices = result.outcome.sum(program, "ldmatrix"),
                         copies = result.outcome.sum(program, "cp.async.cg");
  EXPECT_EQ(matrices.executed, 4u * 4 * 2 * 5);  // warps, steps of K, halves, one load of A and four of B
  EXPECT_EQ(result.outcome.sum(program, "mma").executed, 4u * 4 * 2 * 8);
  EXPECT_EQ(matrices.banks.actual, 4 * 160);
  EXPECT_EQ(matrices.banks.excess(), 0);
  EXPECT_EQ(copies.banks.excess(), 0);
  EXPECT_EQ(copies.sectors.excess(), 0);
  EXPECT_EQ(copies.sectors.actual, 2 * 64 * 128 * 2 / 32);
}

TEST(EmulatedGemm, WithoutSwizzleBankConflictsAreCounted) {
  HEDDLE_NEEDS_NVRTC();
  const Program program = program_of(replaced(kGemm, "chunk ^ ((row >> 1) & 3)", "chunk"));
  const GemmResult result = run_gemm(program, {64, 64, 128});
  EXPECT_TRUE(result.outcome.findings.clean()) << result.outcome.findings.to_string();
  EXPECT_LT(result.error, 1e-4);
  const Cost banks = result.outcome.sum(program, "ldmatrix").banks;
  EXPECT_EQ(banks.actual, 4 * banks.ideal);
}

TEST(EmulatedGemm, StridedCopiesWasteSectors) {
  HEDDLE_NEEDS_NVRTC();
  const Program program =
      program_of(replaced(kGemm, "a + (row0 + row) * K + k + chunk * 8", "a + ((row + 16 * chunk) & 63) * K + k"));
  const Cost sectors = run_gemm(program, {64, 64, 32}).outcome.sum(program, "cp.async.cg").sectors;
  EXPECT_GT(sectors.excess(), 64);
}

}  // namespace
}  // namespace heddle::emulator
