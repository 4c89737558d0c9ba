// Emitted kernels, executed on the host warp by warp, against the float64 judge.
#include "src/codegen/clike/kernel_text.h"

#include "test/clike/vector_machine.h"

namespace heddle {
namespace {

using test::GpuCase;
using test::GpuData;
using test::GpuShape;

const std::vector<GpuShape> kShapes = {{1, 1, 1, 1, 1}, {1, 1, 1, 64, 64}, {2, 4, 2, 65, 63, true}, {1, 1, 1, 129, 77}, {1, 2, 1, 5, 300}, {1, 1, 1, 200, 333}};

double bar(DType dtype) { return dtype == DType::Float16 ? 2e-3 : dtype == DType::BFloat16 ? 1.6e-2 : 1.6e-5; }

void check(const GpuCase& c, const std::vector<GpuShape>& shapes) {
  const ir::AttentionProblem problem = test::gpu_problem(c);
  const ir::GpuProgram program = test::gpu_program(c, problem);
  const codegen::clike::KernelText kernel = codegen::clike::kernel_text(program, "heddle_attention");
  const std::string prelude = program.target.vendor == GpuVendor::Cuda ? test::vector_prelude_cuda() : test::vector_prelude_hip();
  const test::VectorKernel compiled(prelude, kernel.text, "heddle_attention");
  ASSERT_NE(compiled.run, nullptr);
  for (const GpuShape& shape : shapes) {
    GpuData data(c, shape);
    test::VectorMachine machine(program.warps, program.shared_bytes);
    machine.allow(data);
    machine.launch(compiled, kernel.launch, data.kernel_args());
    const auto [o, lse] = data.errors(reference::judge(problem, data.judge_args()));
    const std::string what = fmt::format("mask '{}' score '{}' D {} Sq {} Sk {}", c.mask, c.score, c.head_dim, shape.sq, shape.sk);
    EXPECT_LE(o, bar(c.dtype)) << "O, " << what;
    EXPECT_LE(lse, 2e-5) << "LSE, " << what;
    EXPECT_TRUE(machine.faults().empty()) << *machine.faults().begin() << ", " << what;
  }
}

class KernelText : public test::VectorTest {};

TEST_F(KernelText, Dense) { check({"", ""}, kShapes); }
TEST_F(KernelText, Causal) { check({"k <= q", ""}, kShapes); }
constexpr const char* kNatten =
    "k / 16 >= max(0, min(q / 16 - 3, 16 - 7)) && k / 16 < max(0, min(q / 16 - 3, 16 - 7)) + 7 && "
    "k % 16 >= max(0, min(q % 16 - 3, 16 - 7)) && k % 16 < max(0, min(q % 16 - 3, 16 - 7)) + 7";

TEST_F(KernelText, Longformer) { check({"abs(q - k) <= 70 || k < 16 || q < 16", ""}, kShapes); }
TEST_F(KernelText, Strided) { check({"(q - k) % 32 == 0 && k <= q", ""}, kShapes); }
TEST_F(KernelText, Neighbourhood) { check({kNatten, ""}, {{1, 1, 1, 256, 256}}); }
TEST_F(KernelText, NothingIsAllowed) { check({"false", ""}, {kShapes[0], kShapes[3]}); }
TEST_F(KernelText, TilesAreTestedPairByPair) { check({"q * k % 3 == 1", ""}, kShapes); }
TEST_F(KernelText, HeadsAndBatchesMatter) { check({"h % 2 == 0 || k <= q + b", ""}, {{2, 4, 2, 65, 63, true}}); }
TEST_F(KernelText, Scores) { check({"k <= q", "softcap(s, 5.0) - 0.1 * abs(q - k) * exp(-0.5 * (h + 1))"}, kShapes); }
TEST_F(KernelText, DeeperHeads) { check({"k <= q", "", DType::Float16, 128, 128}, kShapes); }
TEST_F(KernelText, UnequalHeads) { check({"k <= q", "", DType::Float16, 80, 48}, {kShapes[2], kShapes[3]}); }
TEST_F(KernelText, BFloat16) { check({"k <= q", "", DType::BFloat16}, {kShapes[2], kShapes[3]}); }

TEST_F(KernelText, Float32) { check({"k % 3 != 1 && k <= q", "", DType::Float32}, kShapes); }
TEST_F(KernelText, Float32DeeperHeads) { check({"k <= q", "", DType::Float32, 128, 128}, {kShapes[2], kShapes[3]}); }
TEST_F(KernelText, Hip) { check({"q >= k && q - k < 100", "", DType::Float16, 64, 64, "hip:gfx90a"}, kShapes); }
TEST_F(KernelText, HipDense) { check({"", "", DType::BFloat16, 128, 128, "hip:gfx90a"}, kShapes); }
TEST_F(KernelText, HipFloat32) { check({"k % 3 != 1 && k <= q", "softcap(s, 5.0)", DType::Float32, 80, 48, "hip:gfx90a"}, kShapes); }

TEST_F(KernelText, Window) { check({"q >= k && q - k < 100", ""}, kShapes); }

}  // namespace
}  // namespace heddle
