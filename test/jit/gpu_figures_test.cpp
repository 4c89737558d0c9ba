// Static figures of GPU kernels: read back from real compilers, spills provoked, and damaged files refused.
#include "src/jit/gpu_figures.h"

#include "heddle/error.h"
#include "test/jit/device_kernels.h"

namespace heddle::test {
namespace {

using jit::DeviceCode;

const std::string kTensorCores = R"(extern "C" __global__ void multiply(const unsigned* a, float* d) {
  __shared__ unsigned tile[256];
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  unsigned r[4];
  unsigned at = (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x % 32 * 16;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  float c[4] = {0, 0, 0, 0};
  for (int i = 0; i < 2; ++i)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
  for (int i = 0; i < 4; ++i) d[threadIdx.x * 4 + i] = c[i];
}
)";

const std::string kMatrixCores = R"(typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4v __attribute__((ext_vector_type(4)));
extern "C" __attribute__((global)) void multiply(const half4* a, float4v* d) {
  __attribute__((shared)) static half4 tile[64];
  int lane = __builtin_amdgcn_workitem_id_x();
  tile[lane] = a[lane];
  __builtin_amdgcn_s_barrier();
  float4v c = {0, 0, 0, 0};
  for (int i = 0; i < 3; ++i) c = __builtin_amdgcn_mfma_f32_16x16x16f16(tile[lane ^ 1], tile[lane], c, 0, 0, 0);
  d[lane] = c;
}
)";

DeviceCode cuda(const std::string& text, const char* target, jit::DeviceOptions options = {}) {
  return compilers().nvrtc().compiler->compile({"kernel.cu", text}, GpuTarget::parse(target), options);
}

TEST(GpuFigures, TensorCoresAreCountedInPtxAndInMachineCode) {
  HEDDLE_NEEDS_COMPILER(compilers().nvrtc());
  for (const char* target : {"cuda:sm_80", "cuda:sm_89", "cuda:sm_90", "cuda:sm_100", "cuda:sm_120"}) {
    const DeviceCode code = cuda(kTensorCores, target);
    EXPECT_EQ(code.kernels.at(0).shared_bytes, 1024) << code.log;
    const auto ptx = jit::ptx_opcodes(code.ptx), sass = jit::sass_opcodes(code.binary);
    ASSERT_EQ(ptx.size(), 1u);
    ASSERT_EQ(sass.size(), 1u);
    EXPECT_EQ(ptx[0].kernel, "multiply");
    EXPECT_EQ(ptx[0].opcodes.at("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), 2);
    EXPECT_EQ(ptx[0].count({"ldmatrix."}), 1);
    EXPECT_EQ(ptx[0].count({"bar."}) + ptx[0].count({"barrier."}), 1);
    EXPECT_EQ(sass[0].kernel, "multiply");
    EXPECT_EQ(sass[0].count({"HMMA"}), 2) << target;
    EXPECT_EQ(sass[0].count({"LDSM"}), 1) << target;
    EXPECT_EQ(sass[0].count({"BAR"}), 1) << target;
    EXPECT_EQ(sass[0].registers, code.kernels[0].registers) << target;
    EXPECT_EQ(jit::local_accesses(sass[0]), 0) << target;
  }
}

TEST(GpuFigures, SpillsShowInTheLogAndInMachineCodeButNotInPtx) {
  HEDDLE_NEEDS_COMPILER(compilers().nvrtc());
  for (const char* target : {"cuda:sm_80", "cuda:sm_90"}) {
    const DeviceCode roomy = cuda(many_values(96), target), tight = cuda(many_values(96), target, {.max_registers = 48});
    EXPECT_EQ(roomy.kernels.at(0).spills, 0) << roomy.log;
    EXPECT_EQ(jit::local_accesses(jit::sass_opcodes(roomy.binary).at(0)), 0);
    EXPECT_GT(roomy.kernels[0].registers, 96);
    EXPECT_GT(tight.kernels.at(0).spills, 96) << tight.log;
    EXPECT_GT(tight.kernels[0].stack_bytes, 0);
    EXPECT_LE(tight.kernels[0].registers, 48);
    EXPECT_GT(jit::local_accesses(jit::sass_opcodes(tight.binary).at(0)), 24);
    EXPECT_EQ(jit::ptx_opcodes(tight.ptx).at(0).count({"ld.local", "st.local"}), 0);
  }
}

void expect_matrix_cores(const jit::DeviceCompilerSlot& slot, const std::vector<std::string>& archs) {
  HEDDLE_NEEDS_COMPILER(slot);
  for (const std::string& arch : archs) {
    const DeviceCode code = slot.compiler->compile({"kernel.hip", kMatrixCores}, {GpuVendor::Hip, arch});
    ASSERT_EQ(code.kernels.size(), 1u);
    EXPECT_EQ(code.kernels[0].name, "multiply");
    EXPECT_EQ(code.kernels[0].shared_bytes, 512);
    EXPECT_EQ(code.kernels[0].spills, 0);
    const auto opcodes = jit::gcn_opcodes(code.binary, arch);
    ASSERT_EQ(opcodes.size(), 1u);
    EXPECT_EQ(opcodes[0].kernel, "multiply");
    EXPECT_EQ(opcodes[0].count({"v_mfma_f32_16x16x16"}), 3) << slot.name << " " << arch;
    EXPECT_EQ(opcodes[0].count({"s_barrier"}), 1) << slot.name << " " << arch;
    EXPECT_EQ(opcodes[0].count({"?"}), 0) << slot.name << " " << arch;
  }
}

TEST(GpuFigures, MatrixCoresOfHiprtcAreCounted) { expect_matrix_cores(compilers().hiprtc(), {"gfx908", "gfx90a"}); }

TEST(GpuFigures, MatrixCoresOfClangAreCounted) { expect_matrix_cores(compilers().clang(), {"gfx908", "gfx90a", "gfx942"}); }

TEST(GpuFigures, PtxasLogsAreReadKernelByKernel) {
  const std::string log =
      "ptxas info    : Compiling entry function 'one' for 'sm_80'\nptxas info    : Function properties for one\n"
      "    16 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 64 registers, used 1 barriers, 400 bytes smem, 408 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'two' for 'sm_80'\nptxas info    : Function properties for two\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 8 registers, 360 bytes "
      "cmem[0]\n";
  const auto kernels = jit::ptxas_figures(log);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0], (jit::KernelFigures{"one", 64, 0, 44, 16, 400}));
  EXPECT_EQ(kernels[1], (jit::KernelFigures{"two", 8, 0, 0, 0, 0}));
  EXPECT_THROW(jit::ptxas_figures("Compiling entry function 'lost' for 'sm_80'\n"), ToolchainError);
}

TEST(GpuFigures, PtxStatementsOfInlineAssemblyAreCounted) {
  const std::string ptx =
      ".visible .entry k(\n)\n{\n .reg .b32 %r<2>;\n$L__BB0_1:\n @%p1 bra $L__BB0_1;\n {add.u32 %r1, %r1, 1; add.u32 %r1, %r1, "
      "2;}\n"
      " @!%p1 st.global.u32 [%rd1], %r1; // mul.lo.u32 in a comment;\n ret;\n}\n";
  const auto kernels = jit::ptx_opcodes(ptx);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].opcodes, (std::map<std::string, int>{{"bra", 1}, {"add.u32", 2}, {"st.global.u32", 1}, {"ret", 1}}));
  EXPECT_EQ(kernels[0].total(), 5);
}

TEST(GpuFigures, WhatIsNoBinaryOfTheVendorIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("\177ELF"), std::string(500, 'x')}) {
    EXPECT_THROW(jit::sass_opcodes(bytes), ToolchainError);
    EXPECT_THROW(jit::code_object_figures(bytes), ToolchainError);
    EXPECT_THROW(jit::gcn_opcodes(bytes, "gfx90a"), ToolchainError);
  }
}

TEST(GpuFigures, EveryShorteningOfACubinIsReadOrRefused) {
  HEDDLE_NEEDS_COMPILER(compilers().nvrtc());
  const std::string cubin = cuda(kTensorCores, "cuda:sm_80").binary;
  int refused = 0;
  for (size_t size = 0; size < cubin.size(); size += 61) {
    try {
      jit::sass_opcodes(cubin.substr(0, size));
    } catch (const ToolchainError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace heddle::test
