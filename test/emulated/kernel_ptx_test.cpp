// Emitted CUDA kernels as NVRTC compiles them, executed by the PTX emulator, against the float64 judge.
#include "test/emulated/ptx_launch.h"

#include "test/emulator/cuda_kernel.h"

namespace heddle {
namespace {

using emulator::program_of;
using test::GpuCase;
using test::GpuData;
using test::GpuShape;
using test::PtxLaunch;

const std::vector<GpuShape> kShapes = {{1, 1, 1, 1, 1}, {2, 4, 2, 65, 63, true}, {1, 1, 1, 129, 77}, {1, 2, 1, 5, 300}, {1, 1, 1, 200, 333}};

double bar(DType dtype) { return dtype == DType::Float16 ? 2e-3 : dtype == DType::BFloat16 ? 1.6e-2 : 1.6e-5; }

/// One kernel, compiled by NVRTC.
struct Compiled {
  ir::AttentionProblem problem;
  codegen::clike::KernelText kernel;
  emulator::Program program;
  explicit Compiled(const GpuCase& c)
      : problem(test::gpu_problem(c)), kernel(codegen::clike::kernel_text(test::gpu_program(c, problem), "heddle_attention")), program(program_of(kernel.source())) {}
};

void check(const GpuCase& c, const std::vector<GpuShape>& shapes = kShapes) {
  const Compiled compiled(c);
  for (const GpuShape& shape : shapes) {
    GpuData data(c, shape);
    const emulator::Outcome outcome = PtxLaunch(data, compiled.kernel.launch).run(compiled.program);
    const auto [o, lse] = data.errors(reference::judge(compiled.problem, data.judge_args()));
    const std::string what = fmt::format("mask '{}' score '{}' {} D {} Sq {} Sk {}", c.mask, c.score, to_string(c.dtype), c.head_dim, shape.sq, shape.sk);
    EXPECT_LE(o, bar(c.dtype)) << "O, " << what;
    EXPECT_LE(lse, 2e-5) << "LSE, " << what;
    EXPECT_TRUE(outcome.findings.clean()) << what << "\n" << outcome.findings.to_string();
    EXPECT_EQ(outcome.sum(compiled.program, "ldmatrix").banks.excess(), 0) << what;
    EXPECT_EQ(outcome.sum(compiled.program, "ld.shared").banks.excess(), 0) << what;
    EXPECT_EQ(outcome.sum(compiled.program, "st.shared").banks.excess(), 0) << what;
    if (!shape.tokens_first) {
      EXPECT_EQ(outcome.sum(compiled.program, "cp.async").sectors.excess(), 0) << what;
    }
  }
}

TEST(KernelPtx, Dense) {
  HEDDLE_NEEDS_NVRTC();
  check({"", ""});
}
TEST(KernelPtx, Causal) {
  HEDDLE_NEEDS_NVRTC();
  check({"k <= q", ""});
  check({"k <= q", "", DType::BFloat16, 128, 128});
}
TEST(KernelPtx, Window) {
  HEDDLE_NEEDS_NVRTC();
  check({"q >= k && q - k < 100", ""});
}
TEST(KernelPtx, Longformer) {
  HEDDLE_NEEDS_NVRTC();
  check({"abs(q - k) <= 70 || k < 16 || q < 16", ""});
}
TEST(KernelPtx, StridedWithScores) {
  HEDDLE_NEEDS_NVRTC();
  check({"(q - k) % 32 == 0 && k <= q", "softcap(s, 5.0) - 0.1 * abs(q - k) * exp(-0.5 * (h + 1))"});
}
TEST(KernelPtx, Float32) {
  HEDDLE_NEEDS_NVRTC();
  check({"k % 3 != 1 && k <= q", "", DType::Float32}, {kShapes[0], kShapes[1], kShapes[2]});
}
TEST(KernelPtx, NothingIsAllowed) {
  HEDDLE_NEEDS_NVRTC();
  check({"false", ""}, {kShapes[2]});
}

/// What a kernel without one of its precautions does must be found.
emulator::Outcome broken(const std::string& piece, const std::string& by) {
  const GpuCase c = {"k <= q", ""};
  const Compiled compiled(c);
  const emulator::Program program = program_of(emulator::replaced(compiled.kernel.source(), piece, by));
  GpuData data(c, {1, 1, 1, 70, 200});
  return PtxLaunch(data, compiled.kernel.launch).run(program);
}

TEST(KernelPtx, FaultsOfKernelsAreFound) {
  HEDDLE_NEEDS_NVRTC();
  using emulator::FindingKind;
  EXPECT_GT(broken("    block_sync();  // nobody reads", "    // nobody reads").findings.count(FindingKind::Race), 0u);
  EXPECT_GT(broken("cp_async_wait<0>();\n    block_sync();  // nobody", "block_sync();  // nobody").findings.count(FindingKind::ReadInFlight), 0u);
  EXPECT_GT(broken("row < rows", "row < 64").findings.count(FindingKind::OutOfBounds), 0u);
  EXPECT_GT(broken("warp_sync();\n    HD_UNROLL", "HD_UNROLL").findings.total(), 0u);
}

}  // namespace
}  // namespace heddle
