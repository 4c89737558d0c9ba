// Compiles a function over arrays whose body is one expression of the emitter, for tests of its building blocks.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/object_loader.h"
#include "src/codegen/llvm/ir_builder.h"
#include "src/codegen/llvm/source_unit.h"
#include "src/jit/toolchain.h"

namespace heddle::test {

/// out[i] = body(a[i], b[i]), a vector of the target's lanes at a time; `bits` wide integers or, 0, float32.
class ArrayFunction {
 public:
  using Body = std::function<llvm::Value*(codegen::IrBuilder&, llvm::Value* a, llvm::Value* b)>;

  ArrayFunction(const Target& target, unsigned bits, const Body& body) : lanes_(target.lanes()) {
    codegen::SourceUnit unit;
    unit.context = std::make_unique<llvm::LLVMContext>();
    unit.module = std::make_unique<llvm::Module>("function", *unit.context);
    unit.symbol = "function";
    unit.target = target;
    emit(*unit.module, target, bits, body);
    codegen::verify(unit);
    code_ = runtime::load_object(jit::compile(std::move(unit)), "function");
  }

  template <typename T>
  std::vector<T> operator()(std::vector<T> a, std::vector<T> b) const {
    const size_t count = a.size(),
                 padded = (count + static_cast<size_t>(lanes_) - 1) / static_cast<size_t>(lanes_) * static_cast<size_t>(lanes_);
    a.resize(padded), b.resize(padded);
    std::vector<T> out(padded);
    reinterpret_cast<void (*)(const T*, const T*, T*, int64_t)>(code_.entry)(a.data(), b.data(), out.data(),
                                                                             static_cast<int64_t>(padded));
    out.resize(count);
    return out;
  }

 private:
  void emit(llvm::Module& module, const Target& target, unsigned bits, const Body& body) {
    codegen::IrBuilder b(module, target);
    llvm::Type* pointer = b.getPtrTy();
    auto* type = llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, b.getInt64Ty()}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "function", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
    llvm::Type* element = bits == 0 ? b.getFloatTy() : b.getIntNTy(bits);
    auto* vector = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_));
    b.loop("i", b.constant(0), function->getArg(3), lanes_, {}, [&](llvm::Value* i, llvm::ArrayRef<llvm::Value*>) {
      const auto load = [&](unsigned n) {
        return b.CreateAlignedLoad(vector, b.element(element, function->getArg(n), i), llvm::Align(4));
      };
      b.CreateAlignedStore(body(b, load(0), load(1)), b.element(element, function->getArg(2), i), llvm::Align(4));
      return codegen::Values{};
    });
    b.CreateRetVoid();
  }

  int lanes_;
  runtime::LoadedCode code_;
};

}  // namespace heddle::test
