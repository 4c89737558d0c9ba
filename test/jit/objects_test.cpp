// Kernel objects: self-contained, the same bytes every time, and the same results through either loader.
#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>

#include <set>
#include <thread>

#include "heddle/error.h"
#include "runtime/elf_object.h"
#include "src/jit/orc.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/launch_data.h"

namespace heddle::test {
namespace {

const std::vector<KernelSpec>& kernels() {
  static const std::vector<KernelSpec> specs = [] {
    std::vector<KernelSpec> all;
    for (const Target& target : Target::all()) {
      if (target.level == CpuLevel::Aarch64) continue;  // not what ElfObject reads
      if (target.bfloat16_dots) continue;               // the same kernels of float32 as without them
      for (const KernelSpec& like : std::vector<KernelSpec>{{},
                                                            {.mask = "k <= q", .head_dim = 41, .value_dim = 7},
                                                            {.mask = "q * k % 7 == 0", .score = "tanh(s) + exp(log(abs(s)))"},
                                                            {.mask = "k <= q + off && q / m == k / m",
                                                            .score = "s - slope * k",
                                                            .ints = {"m", "off"},
                                                            .reals = {"slope"}}}) {
        all.push_back(like);
        all.back().target = target;
      }
    }
    return all;
  }();
  return specs;
}

std::string object_of(const KernelSpec& spec) {
  return jit::compile(codegen::emit_kernel(schedule_of(problem_of(spec)), "kernel"));
}

TEST(Objects, ImportNothingAndDefineOneKernel) {
  for (const KernelSpec& spec : kernels()) {
    const std::string object = object_of(spec);
    const runtime::ElfObject elf(object);
    std::set<std::string> undefined, global;
    for (const Elf64_Shdr& section : elf.sections()) {
      if (section.sh_type != SHT_SYMTAB) continue;
      for (const Elf64_Sym& symbol : elf.table<Elf64_Sym>(section)) {
        const std::string name(elf.text(elf.section(section.sh_link), symbol.st_name));
        if (name.empty() || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
        (symbol.st_shndx == SHN_UNDEF ? undefined : global).insert(name);
      }
    }
    for (const std::string& name : undefined) EXPECT_TRUE(name == "memcpy" || name == "memmove" || name == "memset") << name;
    EXPECT_EQ(global, std::set<std::string>{"kernel"}) << spec.mask;
  }
}

TEST(Objects, AreTheSameBytesEveryTimeAndOnEveryThread) {
  std::vector<std::string> once, again(kernels().size()), there(kernels().size());
  for (const KernelSpec& spec : kernels()) once.push_back(object_of(spec));
  const auto compile_all = [](std::vector<std::string>& into) {
    for (size_t i = 0; i < into.size(); ++i) into[i] = object_of(kernels()[i]);
  };
  std::thread other([&] { compile_all(there); });
  compile_all(again);
  other.join();
  EXPECT_EQ(once, again);
  EXPECT_EQ(once, there);
  EXPECT_EQ(std::set<std::string>(once.begin(), once.end()).size(), once.size()) << "different kernels are different objects";
}

TEST(Objects, GiveTheSameResultsThroughEitherLoader) {
  jit::Linker linker;
  for (const KernelSpec& spec : kernels()) {
    if (!spec.target.runs_here()) continue;
    const ir::ScheduledProgram program = schedule_of(problem_of(spec));
    const EmittedKernel loaded(program);
    const jit::LinkedKernel linked = linker.link(object_of(spec), "kernel");
    Launch launch;
    launch.heads = 2, launch.sq = 50, launch.sk = 70, launch.head_dim = spec.head_dim, launch.value_dim = spec.value_dim;
    launch.ints.assign(spec.ints.size(), 7), launch.reals.assign(spec.reals.size(), 0.25);
    LaunchData a(launch), b(launch);
    loaded.run(a.args);
    GuardedArray<std::byte> scratch(static_cast<size_t>(program.scratch_bytes));
    linked.entry(&b.args, 0, loaded.blocks(b.args), scratch.data());
    EXPECT_EQ(a.results(), b.results()) << spec.mask;
    EXPECT_EQ(difference(reference::judge(problem_of(spec), a.args), a, 8 * accuracy_bar(spec.head_dim)), "") << spec.mask;
  }
}

TEST(Assembly, ShowsTheKernelOfTheTarget) {
  for (const KernelSpec& spec : kernels()) {
    const std::string text = jit::assembly(codegen::emit_kernel(schedule_of(problem_of(spec)), "some_kernel"));
    EXPECT_NE(text.find(".globl\tsome_kernel"), std::string::npos);
    EXPECT_EQ(text.find("zmm") != std::string::npos, spec.target.level == CpuLevel::Avx512);
  }
}

TEST(Linker, KeepsCodeAliveForItsLastUser) {
  KernelSpec spec = {.mask = "k <= q"};
  const ir::ScheduledProgram program = schedule_of(problem_of(spec));
  jit::LinkedKernel first, second;
  {
    jit::Linker linker;
    first = linker.link(object_of(spec), "kernel");
    second = linker.link(object_of(spec), "kernel");  // the same symbol again: sessions keep them apart
  }
  EXPECT_NE(first.entry, second.entry);
  first = {};
  LaunchData data(Launch{});
  GuardedArray<std::byte> scratch(static_cast<size_t>(program.scratch_bytes));
  second.entry(&data.args, 0, (data.launch().sq + program.tile_rows - 1) / program.tile_rows, scratch.data());
  EXPECT_EQ(difference(reference::judge(problem_of(spec), data.args), data, accuracy_bar(16)), "");
}

TEST(Linker, LinksOnSeveralThreadsAtOnce) {
  jit::Linker linker;
  const std::string object = object_of({});
  std::vector<jit::LinkedKernel> linked(8);
  const auto share = [&](size_t first) {
    for (size_t i = first; i < linked.size(); i += 2) linked[i] = linker.link(object, "kernel");
  };
  std::thread other(share, 1);
  share(0);
  other.join();
  std::set<AttentionKernel> entries;
  for (const jit::LinkedKernel& kernel : linked) entries.insert(kernel.entry);
  EXPECT_EQ(entries.size(), linked.size());
  EXPECT_FALSE(entries.contains(nullptr));
}

/// The message of the ToolchainError that linking throws.
std::string refusal(const std::string& object, const std::string& symbol) {
  jit::Linker linker;
  try {
    linker.link(object, symbol);
  } catch (const ToolchainError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Linker, RefusesWhatIsNotThere) {
  EXPECT_NE(refusal(object_of({}), "no_such_kernel").find("no_such_kernel"), std::string::npos);
  EXPECT_NE(refusal("this is no object", "kernel").find("kernel"), std::string::npos);
  EXPECT_NE(refusal("", "kernel"), "accepted");
  const std::string object = object_of({});
  EXPECT_NE(refusal(object.substr(0, object.size() / 2), "kernel"), "accepted");
}

/// void kernel(): calls a function that no module defines.
std::string object_that_imports(const std::string& name) {
  codegen::SourceUnit unit;
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = std::make_unique<llvm::Module>("importer", *unit.context);
  unit.symbol = "kernel", unit.target = Target::host();
  llvm::IRBuilder<> b(*unit.context);
  auto* type = llvm::FunctionType::get(b.getVoidTy(), false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "kernel", *unit.module);
  b.SetInsertPoint(llvm::BasicBlock::Create(*unit.context, "entry", function));
  b.CreateCall(unit.module->getOrInsertFunction(name, type));
  b.CreateRetVoid();
  codegen::verify(unit);
  return jit::compile(std::move(unit));
}

TEST(Linker, GivesKernelsMemoryFunctionsAndNothingElse) {
  for (const char* name : {"memcpy", "memmove", "memset"}) EXPECT_EQ(refusal(object_that_imports(name), "kernel"), "accepted");
  for (const char* name : {"printf", "expf", "malloc", "no_such_function"}) {
    EXPECT_NE(refusal(object_that_imports(name), "kernel").find(name), std::string::npos)
        << refusal(object_that_imports(name), "kernel");
  }
}

TEST(SourceUnit, PrintsAndRefusesMalformedModules) {
  const codegen::SourceUnit unit = codegen::emit_kernel(schedule_of(problem_of({})), "some_kernel");
  EXPECT_NE(codegen::print(unit).find("define void @some_kernel"), std::string::npos);
  EXPECT_NO_THROW(codegen::verify(unit));
  unit.module->getFunction("some_kernel")->front().getTerminator()->eraseFromParent();
  EXPECT_THROW(codegen::verify(unit), InternalError);
}

}  // namespace
}  // namespace heddle::test
