// Faults seeded into a right kernel: each must be found by the check that is meant for it.
#include "test/emulator/gemm_run.h"

namespace heddle::emulator {
namespace {

struct Fault {
  const char* name;
  const char* piece;
  const char* by;
  FindingKind found;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

const std::vector<Fault> kFaults = {
    {"no barrier behind the wait", "    __syncthreads();  // arrived", "", FindingKind::Race},
    {"no barrier at the end of the loop", "    __syncthreads();  // read", "", FindingKind::Race},
    {"waits for one group too few", "cp.async.wait_group 1;", "cp.async.wait_group 2;", FindingKind::ReadInFlight},
    {"last wait leaves a group in flight", "cp.async.wait_group 0;", "cp.async.wait_group 1;", FindingKind::ReadInFlight},
    {"last wait is lost", "asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");", "", FindingKind::NeverWaited},
    {"rows of A are not bounded", "row0 + row < M);", "row0 + row >= 0);", FindingKind::OutOfBounds},
    {"rows of D are not bounded", "row < M && column < N", "column < N", FindingKind::OutOfBounds},
    {"columns of D are not bounded", "row < M && column < N", "row < M", FindingKind::WrittenTwice},
    {"stages are not flipped", "stage_tiles(stage ^ 1, a", "stage_tiles(stage, a", FindingKind::Race},
    {"ldmatrix reads beyond its tile", "n * 16 + (lane & 7)", "n * 16 + 300 + (lane & 7)", FindingKind::OutOfBounds},
    {"ldmatrix rows are not aligned", "stage * 8192 + operand", "stage * 8192 + (operand == 1 && row == 5 ? 2 : 0) + operand",
     FindingKind::Misaligned},
    {"half of B is never staged", "    copy(at(stage, 1, row, chunk)", "    if (row < 32) copy(at(stage, 1, row, chunk)",
     FindingKind::UninitialisedRead},
    {"a column of D twice", "n * 8 + (lane & 3) * 2", "(lane & 3) * 2", FindingKind::WrittenTwice},
    {"a row of D is left out", "if (row < M && column < N)", "if (row < M && column < N && row != 3)",
     FindingKind::NeverWritten},
    {"writes its input", "d[row * N + column] = c[n][i];", "{ d[row * N + column] = c[n][i]; ((float*)a)[0] = 0; }",
     FindingKind::WriteToInput},
    {"a barrier under a condition", "    __syncthreads();  // arrived", "    if (threadIdx.x & 16) __syncthreads();",
     FindingKind::DivergentBarrier},
    {"one warp leaves before a barrier", "  float c[8][4] = {};", "  float c[8][4] = {}; if (warp == 3) return;",
     FindingKind::DivergentBarrier},
    {"runs for ever", "k += 32, stage", "k += 0, stage", FindingKind::Endless},
};

class SeededFault : public testing::TestWithParam<Fault> {};

TEST_P(SeededFault, IsFound) {
  HEDDLE_NEEDS_NVRTC();
  const Fault& fault = GetParam();
  const GemmResult result = run_gemm(program_of(replaced(kGemm, fault.piece, fault.by)), {65, 63, 96});
  EXPECT_GT(result.outcome.findings.count(fault.found), 0u) << fault.name << "\n" << result.outcome.findings.to_string();
}

INSTANTIATE_TEST_SUITE_P(Emulator, SeededFault, testing::ValuesIn(kFaults), [](const auto& fault) {
  std::string name;
  for (const char c : std::string(fault.param.name)) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(SeededFaults, NumericalOnesShowAgainstTheReference) {
  HEDDLE_NEEDS_NVRTC();
  for (const auto& [piece, by] : std::vector<std::pair<const char*, const char*>>{
           {"half * 2 + (lane >> 4)", "half * 2"},
           {"multiply(c[2 * n + 1], left, right[2]", "multiply(c[2 * n + 1], left, right[0]"}}) {
    const GemmResult result = run_gemm(program_of(replaced(kGemm, piece, by)), {64, 64, 32});
    EXPECT_GT(result.error, 0.1) << piece;
  }
}

}  // namespace
}  // namespace heddle::emulator
