// The compilers of GPU text: what they make of a small kernel for each target, what they refuse, and how they say why.
#include <cstdlib>
#include <set>
#include <thread>

#include "heddle/error.h"
#include "src/jit/gpu_devices.h"
#include "src/jit/vendor_library.h"
#include "test/jit/device_kernels.h"

namespace heddle::test {
namespace {

using jit::DeviceCode;
using jit::DeviceSource;

const DeviceSource kBroken{"window.cu", "extern \"C\" __attribute__((global)) void f(float* y) {\n  y[0] = bad_name;\n}\n"};

std::string refusal(const jit::DeviceCompiler& compiler, const DeviceSource& source, const GpuTarget& target) {
  try {
    compiler.compile(source, target);
  } catch (const ToolchainError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_scale_compiles(const jit::DeviceCompiler& compiler, const GpuTarget& target) {
  const DeviceCode code = compiler.compile({"scale", kScale}, target);
  ASSERT_EQ(code.kernels.size(), 1u) << target.to_string() << code.log;
  EXPECT_EQ(code.kernels[0].name, "scale");
  EXPECT_GT(code.kernels[0].registers, 0) << target.to_string();
  EXPECT_EQ(code.kernels[0].spills, 0) << target.to_string();
  EXPECT_EQ(code.kernels[0].stack_bytes, 0) << target.to_string();
  EXPECT_EQ(code.binary.substr(0, 4), "\177ELF") << target.to_string();
  EXPECT_EQ(code.ptx.empty(), target.vendor == GpuVendor::Hip);
}

/// Every target of the vendor that the compiler knows; at least `least` of them.
void expect_all_compile(const jit::DeviceCompiler& compiler, int least) {
  int compiled = 0;
  for (const GpuTarget& target : GpuTarget::all()) {
    if (!compiler.takes(target)) continue;
    expect_scale_compiles(compiler, target);
    ++compiled;
  }
  EXPECT_GE(compiled, least) << compiler.version();
}

TEST(DeviceCompilers, NvrtcCompilesForEveryCudaTarget) {
  HEDDLE_NEEDS_COMPILER(compilers().nvrtc());
  expect_all_compile(*compilers().nvrtc().compiler, 3);
}

TEST(DeviceCompilers, HiprtcCompilesForTheTargetsItKnows) {
  HEDDLE_NEEDS_COMPILER(compilers().hiprtc());
  expect_all_compile(*compilers().hiprtc().compiler, 2);
}

TEST(DeviceCompilers, ClangCompilesForEveryHipTarget) {
  HEDDLE_NEEDS_COMPILER(compilers().clang());
  expect_all_compile(*compilers().clang().compiler, 3);
}

TEST(DeviceCompilers, VersionsTellBuilds) {
  std::set<std::string> versions;
  for (const auto* slot : {&compilers().nvrtc(), &compilers().hiprtc(), &compilers().clang()}) {
    HEDDLE_NEEDS_COMPILER(*slot);
    const std::string version = slot->compiler->version();
    EXPECT_GT(version.size(), 24u) << version;  // name, number, and a build id
    EXPECT_EQ(version.find("unknown"), std::string::npos) << version;
    versions.insert(version);
  }
  EXPECT_EQ(versions.size(), 3u);
}

TEST(DeviceCompilers, UnknownArchitecturesAreRefusedBeforeTheCall) {
  for (const auto* slot : {&compilers().nvrtc(), &compilers().hiprtc(), &compilers().clang()}) {
    HEDDLE_NEEDS_COMPILER(*slot);
    const GpuTarget other{slot->compiler->vendor(), slot->compiler->vendor() == GpuVendor::Cuda ? "sm_35" : "gfx9999"};
    const std::string message = refusal(*slot->compiler, {"scale", kScale}, other);
    EXPECT_NE(message.find("does not generate code for " + other.to_string() + "; it knows "), std::string::npos) << message;
    const GpuTarget foreign =
        slot->compiler->vendor() == GpuVendor::Cuda ? GpuTarget::parse("hip:gfx90a") : GpuTarget::parse("cuda:sm_80");
    EXPECT_NE(refusal(*slot->compiler, {"scale", kScale}, foreign).find("does not generate code"), std::string::npos);
  }
}

TEST(DeviceCompilers, BrokenSourceNamesItsLine) {
  for (const auto* slot : {&compilers().nvrtc(), &compilers().hiprtc(), &compilers().clang()}) {
    HEDDLE_NEEDS_COMPILER(*slot);
    const GpuTarget target = GpuTarget::parse(slot->compiler->vendor() == GpuVendor::Cuda ? "cuda:sm_80" : "hip:gfx90a");
    const std::string message = refusal(*slot->compiler, kBroken, target);
    EXPECT_NE(message.find(":2: "), std::string::npos) << message;
    EXPECT_NE(message.find("\n  y[0] = bad_name;"), std::string::npos) << message;
    EXPECT_NE(message.find(target.to_string()), std::string::npos) << message;
  }
}

TEST(DeviceCompilers, ACompilerGoesOnAfterRefusing) {
  for (const auto* slot : {&compilers().nvrtc(), &compilers().hiprtc(), &compilers().clang()}) {
    HEDDLE_NEEDS_COMPILER(*slot);
    const GpuTarget target = GpuTarget::parse(slot->compiler->vendor() == GpuVendor::Cuda ? "cuda:sm_90" : "hip:gfx90a");
    EXPECT_NE(refusal(*slot->compiler, kBroken, target), "accepted");
    expect_scale_compiles(*slot->compiler, target);
  }
}

TEST(DeviceCompilers, ManyThreadsGetTheSameCode) {
  for (const auto* slot : {&compilers().nvrtc(), &compilers().hiprtc(), &compilers().clang()}) {
    HEDDLE_NEEDS_COMPILER(*slot);
    const GpuTarget target = GpuTarget::parse(slot->compiler->vendor() == GpuVendor::Cuda ? "cuda:sm_80" : "hip:gfx90a");
    const std::string alone = slot->compiler->compile({"scale", kScale}, target).binary;
    std::vector<std::string> binaries(3);
    std::vector<std::thread> threads;
    for (std::string& binary : binaries) {
      threads.emplace_back([&binary, &target, slot] { binary = slot->compiler->compile({"scale", kScale}, target).binary; });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& binary : binaries) EXPECT_TRUE(binary == alone) << slot->name;
  }
}

TEST(DeviceCompilers, TheEnvironmentIsNotListenedTo) {
  HEDDLE_NEEDS_COMPILER(compilers().nvrtc());
  setenv("NVRTC_APPEND_FLAGS", "--maxrregcount=16", 1);
  const std::string message = refusal(*compilers().nvrtc().compiler, {"scale", kScale}, GpuTarget::parse("cuda:sm_80"));
  unsetenv("NVRTC_APPEND_FLAGS");
  EXPECT_NE(message.find("NVRTC_APPEND_FLAGS is '--maxrregcount=16'"), std::string::npos) << message;
}

TEST(DeviceCompilers, PtxAloneHasNoMachineCode) {
  HEDDLE_NEEDS_COMPILER(compilers().nvrtc());
  const DeviceCode code =
      compilers().nvrtc().compiler->compile({"scale", kScale}, GpuTarget::parse("cuda:sm_80"), {.ptx_only = true});
  EXPECT_TRUE(code.binary.empty());
  EXPECT_NE(code.ptx.find(".entry scale("), std::string::npos);
}

TEST(DeviceCompilers, EveryTargetHasACompilerOrAReason) {
  const std::vector<jit::TargetState> states = compilers().states();
  ASSERT_EQ(states.size(), GpuTarget::all().size());
  for (const jit::TargetState& state : states) {
    EXPECT_EQ(state.compiles, !state.compiler.empty()) << state.target.to_string();
    EXPECT_EQ(state.compiles, state.why_not_compiled.empty()) << state.target.to_string();
    EXPECT_EQ(state.runs, state.why_not_run.empty()) << state.target.to_string();
    EXPECT_TRUE(state.compiles || !HEDDLE_GPU_COMPILERS) << state.why_not_compiled;
  }
}

TEST(DeviceCompilers, HiprtcGoesFirstAndClangTakesWhatItDoesNotKnow) {
  HEDDLE_NEEDS_COMPILER(compilers().hiprtc());
  HEDDLE_NEEDS_COMPILER(compilers().clang());
  EXPECT_EQ(&compilers().for_target(GpuTarget::parse("hip:gfx90a")), compilers().hiprtc().compiler.get());
  const GpuTarget newest = GpuTarget::parse("hip:gfx942");
  if (!compilers().hiprtc().compiler->takes(newest)) {
    EXPECT_EQ(&compilers().for_target(newest), compilers().clang().compiler.get());
  }
}

TEST(FirstError, ReadsNvrtcAndClang) {
  const DeviceSource source{"k.cu", "one\n  two\nthree\n"};
  EXPECT_EQ(jit::first_error(source, "k.cu(2): error: no such name\n  two\n"), "k.cu:2: no such name\n  two");
  EXPECT_EQ(jit::first_error(source, "warning\nk.cu:3:7: error: bad\nk.cu:1:1: error: worse"), "k.cu:3: bad\n  three");
  EXPECT_EQ(jit::first_error(source, "ptxas died\nof this"), "ptxas died");
  EXPECT_EQ(jit::first_error(source, "k.cu(99): error: beyond"), "k.cu:99: beyond\n  ");
}

TEST(VendorLibrary, SaysWhatWasTried) {
  try {
    const jit::VendorLibrary library("Loom", {"libheddle-loom.so.1", "/nowhere/libloom.so"}, "install loom");
    FAIL();
  } catch (const ToolchainError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("Loom not found; install loom"), std::string::npos) << message;
    EXPECT_NE(message.find("/nowhere/libloom.so: "), std::string::npos) << message;
  }
}

TEST(VendorLibrary, NamesTheMissingFunction) {
  const jit::VendorLibrary library("C library", {"libc.so.6"}, "");
  EXPECT_TRUE(library.has("strlen"));
  EXPECT_FALSE(library.has("heddle_loom"));
  EXPECT_EQ(library.function<size_t (*)(const char*)>("strlen")("four"), 4u);
  EXPECT_THROW(library.function<void (*)()>("heddle_loom"), ToolchainError);
  EXPECT_GE(library.build().size(), 16u);
}

TEST(GpuDevices, RunWhatTheirArchitectureAllows) {
  EXPECT_TRUE(jit::runs_on(GpuTarget::parse("cuda:sm_80"), "sm_80"));
  EXPECT_TRUE(jit::runs_on(GpuTarget::parse("cuda:sm_80"), "sm_86"));
  EXPECT_FALSE(jit::runs_on(GpuTarget::parse("cuda:sm_89"), "sm_86"));
  EXPECT_FALSE(jit::runs_on(GpuTarget::parse("cuda:sm_80"), "sm_90"));
  EXPECT_FALSE(jit::runs_on(GpuTarget::parse("cuda:sm_100"), "sm_120"));
  EXPECT_TRUE(jit::runs_on(GpuTarget::parse("hip:gfx90a"), "gfx90a"));
  EXPECT_FALSE(jit::runs_on(GpuTarget::parse("hip:gfx90a"), "gfx908"));
  EXPECT_FALSE(jit::runs_on(GpuTarget::parse("hip:gfx90a"), "sm_80"));
}

}  // namespace
}  // namespace heddle::test
