#include "src/codegen/llvm/body_emitter.h"

#include <cstddef>

#include "heddle/kernel_abi.h"
#include "src/codegen/llvm/compressed_rows.h"

namespace heddle::codegen {

using ir::TensorId;

void BodyEmitter::emit(const ir::ScheduledBody& body) {
  for (const ir::ScheduledStatement& statement : body) std::visit(*this, statement.op);
}

Value* BodyEmitter::factor(bool softmax_scale, double constant) {
  Value* value = llvm::ConstantFP::get(b_.getFloatTy(), constant);
  if (!softmax_scale) return value;
  Value* scale = b_.CreateAlignedLoad(b_.getDoubleTy(), b_.element(b_.getInt8Ty(), block_.args, offsetof(AttentionArgs, scale)),
                                      llvm::Align(8));
  return b_.CreateFPTrunc(b_.CreateFMul(scale, llvm::ConstantFP::get(b_.getDoubleTy(), constant)), b_.getFloatTy());
}

void BodyEmitter::operator()(const ir::PackRows& s) {
  ArgumentReader args(b_, block_.args);
  Value* offset = b_.CreateAdd(b_.CreateMul(block_.name("b"), args.stride(s.tensor, 0)),
                               b_.CreateMul(block_.name("h"), args.stride(s.tensor, 1)));
  Value *base = operand_element(b_, program_.dtype, args.base(s.tensor), offset), *stride = args.stride(s.tensor, 2);
  auto row_address = [&](Value* row) {
    Value* q = b_.smaller(b_.CreateAdd(block_.rows.first_row, row), block_.rows.last_row);
    return operand_element(b_, program_.dtype, base, b_.CreateMul(q, stride));
  };
  const ir::Buffer& out = program_.buffers.at(static_cast<size_t>(s.out));
  const TensorRows rows = {program_.dtype, out.columns, row_address};
  if (out.element == ir::Element::Pairs) return pack_pairs(b_, matrix_of(s.out), rows);
  pack_rows(b_, matrix_of(s.out), factor(s.softmax_scale, s.factor), rows);
}

void BodyEmitter::each_vector(const ir::Buffer& buffer, llvm::function_ref<void(Value*)> make) {
  b_.loop("fill", b_.constant(0), b_.constant(buffer.columns * program_.tile_rows), b_.lanes(), {},
          [&](Value* element, llvm::ArrayRef<Value*>) {
            make(element);
            return Values{};
          }, Trips::AtLeastOne);
}

void BodyEmitter::operator()(const ir::FillBuffer& s) {
  Value* base = address(s.out);
  each_vector(program_.buffers.at(static_cast<size_t>(s.out)), [&](Value* element) {
    b_.store_vector(b_.splat_real(s.value), b_.element(b_.getFloatTy(), base, element));
  });
}

void BodyEmitter::operator()(const ir::CopyBuffer& s) {
  Value *to = address(s.out), *from = address(s.in);
  each_vector(program_.buffers.at(static_cast<size_t>(s.out)), [&](Value* element) {
    b_.store_vector(b_.load_vector(b_.element(b_.getFloatTy(), from, element)), b_.element(b_.getFloatTy(), to, element));
  });
}

void BodyEmitter::operator()(const ir::ListKeys& s) {
  Value *base = address(s.out), *stride = block_.row_stride.at(s.tensor);
  const int64_t columns = program_.buffers.at(static_cast<size_t>(s.out)).columns;
  b_.loop("list", b_.constant(0), b_.constant(columns), 1, {}, [&](Value* n, llvm::ArrayRef<Value*>) {
    b_.CreateAlignedStore(b_.CreateMul(n, stride), b_.element(b_.getInt64Ty(), base, n), llvm::Align(8));
    return Values{};
  }, Trips::AtLeastOne);
}

void BodyEmitter::operator()(const ir::RowMap& s) {
  VectorExpr expr = expressions();
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    expr.bind(static_cast<int>(i), matrix_of(s.inputs[i]).load(b_, b_.constant(0)), true);
  }
  expr.begin_column(nullptr);
  matrix_of(s.out).store(b_, b_.constant(0), expr.real(s.expr));
}

void BodyEmitter::operator()(const ir::Contract& s) {
  const bool plain = !s.rhs.softmax_scale && s.rhs.factor == 1.0;
  emit_contract(b_, program_, block_, *step_, s, plain ? nullptr : factor(s.rhs.softmax_scale, s.rhs.factor));
}

void BodyEmitter::operator()(const ir::StageRows& s) { emit_stage_rows(b_, program_, block_, *step_, s); }

void BodyEmitter::operator()(const ir::RoundPairs& s) { emit_round_pairs(b_, program_, block_, *step_, s); }

void BodyEmitter::operator()(const ir::Sweep& s) { emit_sweep(b_, program_, block_, step_, math_, s); }

void BodyEmitter::operator()(const ir::StoreColumns& s) { store_columns(b_, program_, block_, *step_, math_, s); }
void BodyEmitter::operator()(const ir::LoadColumns& s) { load_columns(b_, program_, block_, *step_, math_, s); }
void BodyEmitter::operator()(const ir::SoftmaxRows& s) { softmax_rows(b_, program_, block_, math_, s); }

void BodyEmitter::operator()(const ir::StoreRows& s) {
  if (s.tensor == TensorId::Lse) return store_lse(s.in.matrix);
  ArgumentReader args(b_, block_.args);
  Value* offset = b_.CreateAdd(b_.CreateMul(block_.name("b"), args.stride(s.tensor, 0)),
                               b_.CreateMul(block_.name("h"), args.stride(s.tensor, 1)));
  Value *base = operand_element(b_, program_.dtype, args.base(s.tensor), offset), *stride = args.stride(s.tensor, 2);
  Value *sink = address(program_.sink), *existing = b_.CreateSub(block_.name("Sq"), block_.rows.first_row);
  auto row_address = [&](Value* row) {
    Value* place = operand_element(b_, program_.dtype, base, b_.CreateMul(b_.CreateAdd(block_.rows.first_row, row), stride));
    return b_.CreateSelect(b_.CreateICmpSLT(row, existing), place, sink);
  };
  const int64_t dims = program_.buffers.at(static_cast<size_t>(s.in.matrix)).columns;
  unpack_rows(b_, matrix_of(s.in.matrix), s.in.scale == ir::kNoBuffer ? nullptr : address(s.in.scale), {program_.dtype, dims, row_address});
}

void BodyEmitter::store_lse(ir::BufferId row) {
  ArgumentReader args(b_, block_.args);
  Value *sq = block_.name("Sq"), *source = address(row);
  Value* head = b_.CreateAdd(b_.CreateMul(block_.name("b"), block_.name("H")), block_.name("h"));
  Value* first = b_.CreateAdd(b_.CreateMul(head, sq), block_.rows.first_row);
  Value* target = b_.element(b_.getFloatTy(), args.pointer(offsetof(AttentionArgs, lse)), first);
  Value* existing = b_.smaller(b_.CreateSub(sq, block_.rows.first_row), b_.constant(program_.tile_rows));
  b_.loop("lse", b_.constant(0), existing, 1, {}, [&](Value* r, llvm::ArrayRef<Value*>) {
    Value* value = b_.CreateAlignedLoad(b_.getFloatTy(), b_.element(b_.getFloatTy(), source, r), llvm::Align(4));
    b_.CreateAlignedStore(value, b_.element(b_.getFloatTy(), target, r), llvm::Align(4));
    return Values{};
  });
}

}  // namespace heddle::codegen
