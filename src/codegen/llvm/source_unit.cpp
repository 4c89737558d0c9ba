#include "src/codegen/llvm/source_unit.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "heddle/error.h"

namespace heddle::codegen {

std::string print(const SourceUnit& unit) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  unit.module->print(stream, nullptr);
  return text;
}

void verify(const SourceUnit& unit) {
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (llvm::verifyModule(*unit.module, &stream)) {
    throw InternalError("llvm emitter", "malformed module for " + unit.symbol + ": " + complaint);
  }
}

}  // namespace heddle::codegen
