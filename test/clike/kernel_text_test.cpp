// Emitted kernels, executed on the host warp by warp, against the float64 judge.
#include "src/codegen/clike/kernel_text.h"

#include "test/clike/gpu_attention.h"

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
  const test::VectorKernel compiled(test::vector_prelude_cuda(), kernel.text, "heddle_attention");
  ASSERT_NE(compiled.run, nullptr);
  for (const GpuShape& shape : shapes) {
    GpuData data(c, shape);
    test::VectorMachine machine(program.warps, kernel.launch.shared_bytes);
    data.allow(machine);
    machine.launch(compiled, kernel.launch, data.kernel_args());
    const auto [o, lse] = data.errors(reference::judge(problem, data.judge_args()));
    const std::string what = fmt::format("mask '{}' score '{}' D {} Sq {} Sk {}", c.mask, c.score, c.head_dim, shape.sq, shape.sk);
    EXPECT_LE(o, bar(c.dtype)) << "O, " << what;
    EXPECT_LE(lse, 2e-5) << "LSE, " << what;
    EXPECT_TRUE(machine.faults().empty()) << *machine.faults().begin() << ", " << what;
  }
}

TEST(KernelText, Dense) { check({"", ""}, kShapes); }
TEST(KernelText, Causal) { check({"k <= q", ""}, kShapes); }
TEST(KernelText, Window) { check({"q >= k && q - k < 100", ""}, kShapes); }

}  // namespace
}  // namespace heddle
