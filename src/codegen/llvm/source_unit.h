// A compiled-to-be kernel: the LLVM module, the context it lives in, and what a toolchain must know to turn it into code.
#pragma once
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <string>
#include "heddle/target.h"

namespace heddle::codegen {

struct SourceUnit {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  ///< Destroyed before its context.
  std::string symbol;                    ///< The AttentionKernel it defines.
  Target target;
  std::string origin{};                  ///< What it was made from, for messages: sizes and formulas in one line.
};

/// The module as LLVM assembly text.
std::string print(const SourceUnit& unit);
/// Throws InternalError with LLVM's complaint when the module is malformed.
void verify(const SourceUnit& unit);

}  // namespace heddle::codegen
