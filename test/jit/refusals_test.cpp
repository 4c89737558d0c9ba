// Code that LLVM refuses: an error with its kind, LLVM's log, the formula and the file of the code, and the process goes on.
#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>

#include <cstdio>

#include "heddle/error.h"
#include "src/jit/toolchain.h"
#include "test/codegen/emitted_kernel.h"
#include "test/process.h"

namespace heddle::test {
namespace {

/// A kernel beside a function that asks for a register which no processor has.
codegen::SourceUnit broken_unit() {
  codegen::SourceUnit unit = codegen::emit_kernel(schedule_of(problem_of({.mask = "k <= q"})), "kernel");
  unit.origin = "attention cpu:avx2 head_dim 64 mask k <= q";
  llvm::FunctionType* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(*unit.context), false);
  llvm::Function* broken = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "broken", *unit.module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(*unit.context, "", broken));
  builder.CreateRet(builder.CreateCall(llvm::InlineAsm::get(type, "", "={nosuch}", false)));
  return unit;
}

std::string message_of(codegen::SourceUnit unit) {
  try {
    jit::compile(std::move(unit));
  } catch (const ToolchainError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Refusals, R111_AFailedCompileTellsLogFileAndFormula) {
  const std::string message = message_of(broken_unit()), file_line = "\ngenerated code: ";
  EXPECT_EQ(message.rfind("LLVM refuses to compile attention cpu:avx2 head_dim 64 mask k <= q\n", 0), 0u) << message;
  EXPECT_NE(message.find("couldn't allocate output register for constraint '{nosuch}'"), std::string::npos) << message;
  EXPECT_EQ(message.find("internal"), std::string::npos) << message;
  const size_t start = message.find(file_line);
  ASSERT_NE(start, std::string::npos) << message;
  const std::string path = message.substr(start + file_line.size(), message.find('\n', start + 1) - start - file_line.size());
  EXPECT_NE(read_file(path).find("@broken"), std::string::npos) << path;
  EXPECT_EQ(std::remove(path.c_str()), 0);
  EXPECT_FALSE(jit::compile(codegen::emit_kernel(schedule_of(problem_of({.mask = "k <= q"})), "kernel")).empty());
}

}  // namespace
}  // namespace heddle::test
