#include "src/codegen/llvm/block_context.h"

#include <cstddef>

#include "heddle/error.h"
#include "heddle/kernel_abi.h"

namespace heddle::codegen {
namespace {

using ir::TensorId;

/// i64 slots of the frame buffer.
enum FrameSlot : int64_t { kBatch, kHead, kFirstRow, kKeys, kValues };

struct TensorFields { size_t pointer, strides; };

TensorFields fields(TensorId tensor) {
  switch (tensor) {
    case TensorId::Q: return {offsetof(AttentionArgs, q), offsetof(AttentionArgs, q_stride)};
    case TensorId::K: return {offsetof(AttentionArgs, k), offsetof(AttentionArgs, k_stride)};
    case TensorId::V: return {offsetof(AttentionArgs, v), offsetof(AttentionArgs, v_stride)};
    case TensorId::O: return {offsetof(AttentionArgs, o), offsetof(AttentionArgs, o_stride)};
    case TensorId::Lse: break;
  }
  throw InternalError("llvm emitter", "LSE has no strides");
}

Value* int_parameter(IrBuilder& b, ArgumentReader& args, size_t index) {
  Value* list = args.pointer(offsetof(AttentionArgs, int_params));
  return b.CreateAlignedLoad(b.getInt64Ty(), b.element(b.getInt64Ty(), list, static_cast<int64_t>(index)), llvm::Align(8));
}

Value* real_parameter(IrBuilder& b, ArgumentReader& args, size_t index) {
  Value* list = args.pointer(offsetof(AttentionArgs, real_params));
  Value* address = b.element(b.getDoubleTy(), list, static_cast<int64_t>(index));
  return b.CreateFPTrunc(b.CreateAlignedLoad(b.getDoubleTy(), address, llvm::Align(8)), b.getFloatTy());
}

/// The context without coordinates: sizes and parameters.
BlockContext sizes_and_parameters(IrBuilder& b, const ir::ScheduledProgram& program, Value* args, Value* scratch) {
  ArgumentReader reader(b, args);
  LaunchNames names = launch_names(b, reader, program.int_params, program.real_params, program.tables);
  BlockContext block{args, scratch, std::move(names.uniform), std::move(names.reals), {}, {}, {}};
  for (TensorId tensor : {TensorId::K, TensorId::V}) block.row_stride[tensor] = reader.stride(tensor, 2);
  return block;
}

void set_rows(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block, Value* first_row) {
  block.rows = {first_row, b.CreateSub(block.name("Sq"), b.constant(1)), program.vectors()};
}

Value* frame_slot(IrBuilder& b, const ir::ScheduledProgram& program, const BlockContext& block, FrameSlot slot) {
  return b.element(b.getInt64Ty(), buffer_address(b, program, block, program.frame), slot);
}

}  // namespace

Value* ArgumentReader::address(size_t offset) {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), args_, offset);
}
Value* ArgumentReader::integer(size_t offset) { return b_.CreateAlignedLoad(b_.getInt64Ty(), address(offset), llvm::Align(8)); }
Value* ArgumentReader::real(size_t offset) {
  return b_.CreateFPTrunc(b_.CreateAlignedLoad(b_.getDoubleTy(), address(offset), llvm::Align(8)), b_.getFloatTy());
}
Value* ArgumentReader::pointer(size_t offset) { return b_.CreateAlignedLoad(b_.getPtrTy(), address(offset), llvm::Align(8)); }
Value* ArgumentReader::base(TensorId tensor) { return pointer(fields(tensor).pointer); }
Value* ArgumentReader::stride(TensorId tensor, int axis) {
  return integer(fields(tensor).strides + static_cast<size_t>(axis) * sizeof(int64_t));
}

LaunchNames launch_names(IrBuilder& b, ArgumentReader& args, const std::vector<std::string>& int_params,
                         const std::vector<std::string>& real_params, const std::vector<TableDeclaration>& tables) {
  Names ints = {{"B", args.integer(offsetof(AttentionArgs, batch))},      {"H", args.integer(offsetof(AttentionArgs, heads))},
                {"Hkv", args.integer(offsetof(AttentionArgs, kv_heads))}, {"Sq", args.integer(offsetof(AttentionArgs, sq))},
                {"Sk", args.integer(offsetof(AttentionArgs, sk))}};
  for (size_t i = 0; i < int_params.size(); ++i) ints[int_params[i]] = int_parameter(b, args, i);
  Names reals;
  for (size_t i = 0; i < real_params.size(); ++i) reals[real_params[i]] = real_parameter(b, args, i);
  TableReader reader;
  if (!tables.empty()) reader = TableReader(b, args.pointer(offsetof(AttentionArgs, tables)), tables);
  return {ScalarExpr(b, ints, std::move(reader)), reals};
}

BlockContext enter_block(IrBuilder& b, const ir::ScheduledProgram& program, Value* args, Value* scratch, Value* index) {
  BlockContext block = sizes_and_parameters(b, program, args, scratch);
  Value *rows = b.constant(program.tile_rows), *keys = b.constant(program.tile_keys), *sk = block.name("Sk"), *heads = block.name("H");
  Value* row_blocks = b.CreateUDiv(b.CreateAdd(block.name("Sq"), b.constant(program.tile_rows - 1)), rows);
  Value *qb = b.CreateURem(index, row_blocks), *head_index = b.CreateUDiv(index, row_blocks);
  Value *head = b.CreateURem(head_index, heads), *batch = b.CreateUDiv(head_index, heads);
  block.uniform.define("b", batch);
  block.uniform.define("h", head);
  block.uniform.define("qb", qb);
  block.uniform.define("NK", b.CreateUDiv(b.CreateAdd(sk, b.constant(program.tile_keys - 1)), keys));
  block.uniform.define("NF", b.CreateUDiv(sk, keys));
  set_rows(b, program, block, b.CreateMul(qb, rows));
  Value* kv_head = b.CreateUDiv(head, b.CreateUDiv(heads, block.name("Hkv")));
  ArgumentReader reader(b, args);
  for (TensorId tensor : {TensorId::K, TensorId::V}) {
    Value* offset = b.CreateAdd(b.CreateMul(batch, reader.stride(tensor, 0)), b.CreateMul(kv_head, reader.stride(tensor, 1)));
    block.base[tensor] = operand_element(b, program.dtype, reader.base(tensor), offset);
  }
  return block;
}

void save_block(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block) {
  auto save = [&](FrameSlot slot, Value* value) {
    b.CreateAlignedStore(value, frame_slot(b, program, block, slot), llvm::Align(8));
  };
  save(kBatch, block.name("b"));
  save(kHead, block.name("h"));
  save(kFirstRow, block.rows.first_row);
  save(kKeys, block.base.at(TensorId::K));
  save(kValues, block.base.at(TensorId::V));
}

BlockContext reload_block(IrBuilder& b, const ir::ScheduledProgram& program, Value* args, Value* scratch) {
  BlockContext block = sizes_and_parameters(b, program, args, scratch);
  auto load = [&](FrameSlot slot, llvm::Type* type) {
    return b.CreateAlignedLoad(type, frame_slot(b, program, block, slot), llvm::Align(8));
  };
  block.uniform.define("b", load(kBatch, b.getInt64Ty()));
  block.uniform.define("h", load(kHead, b.getInt64Ty()));
  set_rows(b, program, block, load(kFirstRow, b.getInt64Ty()));
  block.base[TensorId::K] = load(kKeys, b.getPtrTy());
  block.base[TensorId::V] = load(kValues, b.getPtrTy());
  return block;
}

Value* buffer_address(IrBuilder& b, const ir::ScheduledProgram& program, const BlockContext& block, ir::BufferId id) {
  return b.element(b.getInt8Ty(), block.scratch, program.buffers.at(static_cast<size_t>(id)).offset);
}

Matrix matrix(IrBuilder& b, const ir::ScheduledProgram& program, const BlockContext& block, ir::BufferId id) {
  return {buffer_address(b, program, block, id), program.tile_rows};
}

}  // namespace heddle::codegen
