// Static figures of emitted CUDA kernels from the real compiler: registers, spills, instructions.
#include "src/jit/gpu_figures.h"

#include "test/clike/gpu_attention.h"
#include "test/emulator/cuda_kernel.h"

namespace heddle {
namespace {

constexpr const char* kNatten =
    "k / 64 >= max(0, min(q / 64 - 3, 64 - 7)) && k / 64 < max(0, min(q / 64 - 3, 64 - 7)) + 7 && "
    "k % 64 >= max(0, min(q % 64 - 3, 64 - 7)) && k % 64 < max(0, min(q % 64 - 3, 64 - 7)) + 7";

jit::DeviceCode compiled(const test::GpuCase& c) {
  const ir::AttentionProblem problem = test::gpu_problem(c);
  const std::string source = codegen::clike::kernel_text(test::gpu_program(c, problem), "heddle_attention").source();
  return test::compilers().nvrtc().compiler->compile({"kernel.cu", source}, GpuTarget::parse(c.target));
}

TEST(Figures, NoKernelSpills) {
  HEDDLE_NEEDS_NVRTC();
  for (const DType dtype : {DType::Float16, DType::Float32}) {
    for (const char* mask : {"", "q >= k && q - k < 256", kNatten}) {
      const jit::DeviceCode code = compiled({mask, "", dtype, 128, 128});
      ASSERT_EQ(code.kernels.size(), 1u);
      EXPECT_EQ(code.kernels[0].spills, 0) << mask;
      EXPECT_EQ(code.kernels[0].stack_bytes, 0) << mask;
      EXPECT_LE(code.kernels[0].registers, 170) << mask;
    }
  }
}

TEST(Figures, MatrixInstructionsAreThoseOfTheTiles) {
  HEDDLE_NEEDS_NVRTC();
  const jit::DeviceCode code = compiled({"k <= q", ""});
  const std::vector<jit::OpcodeCounts> ptx = jit::ptx_opcodes(code.ptx);
  ASSERT_EQ(ptx.size(), 1u);
  // A warp's step: 16 x 64 scores of 64 dims, and as much with V, in products of 16 x 8 x 16; once for full tiles and once for partial ones.
  EXPECT_EQ(ptx[0].count({"mma."}), 2 * 2 * (64 / 8) * (64 / 16));
  EXPECT_EQ(ptx[0].count({"ld.local", "st.local"}), 0);
  EXPECT_EQ(jit::local_accesses(jit::sass_opcodes(code.binary)[0]), 0);
}

}  // namespace
}  // namespace heddle
