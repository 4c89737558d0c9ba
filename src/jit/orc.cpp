#include "src/jit/orc.h"

#include <atomic>
#include <cstring>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/TargetSelect.h>
#include <mutex>
#include <utility>

#include "heddle/error.h"

namespace heddle::jit {
namespace {

namespace orc = llvm::orc;

[[noreturn]] void refuse(const std::string& what, llvm::Error error) {
  throw ToolchainError(what, llvm::toString(std::move(error)));
}

template <class T>
T expect(const std::string& what, llvm::Expected<T> value) {
  if (!value) refuse(what, value.takeError());
  return std::move(*value);
}

orc::ExecutorSymbolDef callable(void* address) {
  return {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
}

std::unique_ptr<orc::LLJIT> create() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  orc::LLJITBuilder builder;
  builder.setLinkProcessSymbolsByDefault(false);
  builder.setPlatformSetUp(orc::setUpInactivePlatform);
  return expect("LLVM's linker does not start", builder.create());
}

}  // namespace

struct Linker::Session {
  std::mutex lock;
  std::string complaints;  ///< What LLVM reported beside its errors: the names of missing symbols. Declared first, destroyed last.
  std::unique_ptr<orc::LLJIT> jit = create();
  orc::JITDylib* base = nullptr;  ///< The only symbols kernels may import.
  std::atomic<uint64_t> serial = 0;

  Session() {
    jit->getExecutionSession().setErrorReporter([this](llvm::Error error) {
      const std::scoped_lock hold(lock);
      complaints += llvm::toString(std::move(error)) + "\n";
    });
    base = &jit->getExecutionSession().createBareJITDylib("<base>");
    orc::SymbolMap symbols;
    symbols[jit->mangleAndIntern("memcpy")] = callable(reinterpret_cast<void*>(&std::memcpy));
    symbols[jit->mangleAndIntern("memmove")] = callable(reinterpret_cast<void*>(&std::memmove));
    symbols[jit->mangleAndIntern("memset")] = callable(reinterpret_cast<void*>(&std::memset));
    if (llvm::Error error = base->define(orc::absoluteSymbols(std::move(symbols)))) refuse("memory functions", std::move(error));
  }
  std::string take_complaints() {
    const std::scoped_lock hold(lock);
    return std::exchange(complaints, {});
  }
  void remove(orc::JITDylib& code) { llvm::consumeError(jit->getExecutionSession().removeJITDylib(code)); }
};

Linker::Linker() : session_(std::make_shared<Session>()) {}
Linker::~Linker() = default;

LinkedKernel Linker::link(const std::string& object, const std::string& symbol) {
  const std::string name = symbol + "." + std::to_string(session_->serial++);
  orc::JITDylib& code = session_->jit->getExecutionSession().createBareJITDylib(name);
  std::shared_ptr<const void> owner(&code, [session = session_](const void* dylib) {
    session->remove(*const_cast<orc::JITDylib*>(static_cast<const orc::JITDylib*>(dylib)));
  });
  code.addToLinkOrder(*session_->base);
  if (llvm::Error error = session_->jit->addObjectFile(code, llvm::MemoryBuffer::getMemBufferCopy(object, name))) {
    refuse("kernel object " + symbol + " is not accepted", std::move(error));
  }
  llvm::Expected<orc::ExecutorAddr> address = session_->jit->lookup(code, symbol);
  if (!address) {
    const std::string error = llvm::toString(address.takeError());
    throw ToolchainError("kernel " + symbol + " does not link", session_->take_complaints() + error);
  }
  return {std::move(owner), address->toPtr<AttentionKernel>()};
}

}  // namespace heddle::jit
