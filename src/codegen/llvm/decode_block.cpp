#include "src/codegen/llvm/decode_block.h"

#include <cstddef>

#include "heddle/kernel_abi.h"

namespace heddle::codegen {
namespace {

using ir::DecodeBuffer;
using ir::TensorId;

enum FrameSlot : int64_t { kBatch, kQuery, kFirstHead, kRows, kLength, kKeys, kValues };

Value* frame_slot(IrBuilder& b, const ir::DecodeProgram& program, Value* scratch, FrameSlot slot) {
  return b.element(b.getInt64Ty(), b.element(b.getInt8Ty(), scratch, program.buffer(DecodeBuffer::Frame).offset), slot);
}

DecodeBlock without_coordinates(IrBuilder& b, const ir::DecodeProgram& program, Value* args, Value* scratch) {
  ArgumentReader reader(b, args);
  LaunchNames names = launch_names(b, reader, program.int_params, program.real_params, program.tables);
  return {args, scratch, std::move(names.uniform), std::move(names.reals), nullptr, nullptr, nullptr, nullptr};
}

Value* load_integer(IrBuilder& b, Value* address) { return b.CreateAlignedLoad(b.getInt64Ty(), address, llvm::Align(8)); }

/// Sk of the block's batch.
Value* length(IrBuilder& b, DecodeBlock& block) {
  Value* lengths = split_pointer(b, block, offsetof(SplitArgs, lengths));
  return b.either(b.CreateIsNotNull(lengths), [&] { return Values{load_integer(b, b.element(b.getInt64Ty(), lengths, block.name("b")))}; },
                  [&] { return Values{block.name("Sk")}; })[0];
}

/// Row 0 of K or V of KV head `head`; pages take the place of batches.
Value* tensor_base(IrBuilder& b, DType dtype, DecodeBlock& block, TensorId tensor, Value* head) {
  ArgumentReader reader(b, block.args);
  Value* paged = b.CreateIsNotNull(split_pointer(b, block, offsetof(SplitArgs, pages)));
  Value* batch = b.CreateSelect(paged, b.constant(0), block.name("b"));
  Value* offset = b.CreateAdd(b.CreateMul(batch, reader.stride(tensor, 0)), b.CreateMul(head, reader.stride(tensor, 1)));
  return operand_element(b, dtype, reader.base(tensor), offset);
}

void define_tiles(IrBuilder& b, const ir::DecodeProgram& program, DecodeBlock& block) {
  Value *sk = block.name("Sk"), *keys = b.constant(program.tile_keys);
  block.uniform.define("qb", block.name("q"));
  block.uniform.define("NK", b.CreateUDiv(b.CreateAdd(sk, b.constant(program.tile_keys - 1)), keys));
  block.uniform.define("NF", b.CreateUDiv(sk, keys));
}

}  // namespace

Value* DecodeStep::buffer(DecodeBuffer id) const { return b.element(b.getInt8Ty(), block.scratch, program.buffer(id).offset); }

Value* split_integer(IrBuilder& b, const DecodeBlock& block, size_t offset) {
  Value* split = ArgumentReader(b, block.args).pointer(offsetof(AttentionArgs, split));
  return ArgumentReader(b, split).integer(offset);
}

Value* split_pointer(IrBuilder& b, const DecodeBlock& block, size_t offset) {
  Value* split = ArgumentReader(b, block.args).pointer(offsetof(AttentionArgs, split));
  return ArgumentReader(b, split).pointer(offset);
}

DecodeBlock enter_decode_block(IrBuilder& b, const ir::DecodeProgram& program, Value* args, Value* scratch, Value* index) {
  DecodeBlock block = without_coordinates(b, program, args, scratch);
  Value *kv_heads = block.name("Hkv"), *group = b.CreateUDiv(block.name("H"), kv_heads), *most = b.constant(program.block_rows);
  Value* row_blocks = b.CreateUDiv(b.CreateAdd(group, b.constant(program.block_rows - 1)), most);
  const auto digit = [&](Value* base) {
    Value* value = b.CreateURem(index, base);
    index = b.CreateUDiv(index, base);
    return value;
  };
  Value *row_block = digit(row_blocks), *query = digit(block.name("Sq"));
  block.part = digit(split_integer(b, block, offsetof(SplitArgs, parts)));
  Value* head = digit(kv_heads);
  block.uniform.define("b", index);
  block.uniform.define("q", query);
  block.uniform.define("Sk", length(b, block));
  Value* first_row = b.CreateMul(row_block, most);
  block.first_head = b.CreateAdd(b.CreateMul(head, group), first_row);
  block.rows = b.smaller(b.CreateSub(group, first_row), most);
  block.keys = tensor_base(b, program.dtype, block, TensorId::K, head);
  block.values = tensor_base(b, program.dtype, block, TensorId::V, head);
  define_tiles(b, program, block);
  return block;
}

void save_decode_block(IrBuilder& b, const ir::DecodeProgram& program, DecodeBlock& block) {
  const auto save = [&](FrameSlot slot, Value* value) {
    b.CreateAlignedStore(value, frame_slot(b, program, block.scratch, slot), llvm::Align(8));
  };
  save(kBatch, block.name("b")), save(kQuery, block.name("q")), save(kLength, block.name("Sk"));
  save(kFirstHead, block.first_head), save(kRows, block.rows);
  save(kKeys, block.keys), save(kValues, block.values);
}

DecodeBlock reload_decode_block(IrBuilder& b, const ir::DecodeProgram& program, Value* args, Value* scratch) {
  DecodeBlock block = without_coordinates(b, program, args, scratch);
  const auto load = [&](FrameSlot slot, llvm::Type* type) {
    return b.CreateAlignedLoad(type, frame_slot(b, program, scratch, slot), llvm::Align(8));
  };
  block.uniform.define("b", load(kBatch, b.getInt64Ty()));
  block.uniform.define("q", load(kQuery, b.getInt64Ty()));
  block.uniform.define("Sk", load(kLength, b.getInt64Ty()));
  block.first_head = load(kFirstHead, b.getInt64Ty()), block.rows = load(kRows, b.getInt64Ty());
  block.keys = load(kKeys, b.getPtrTy()), block.values = load(kValues, b.getPtrTy());
  return block;
}

namespace {

Value* first_lanes(IrBuilder& b, int64_t count) {
  llvm::SmallVector<llvm::Constant*, 16> lanes;
  for (int lane = 0; lane < b.lanes(); ++lane) lanes.push_back(b.getInt1(lane < count));
  return llvm::ConstantVector::get(lanes);
}

}  // namespace

Value* load_lanes(DecodeStep& s, Value* address, int64_t count) {
  IrBuilder& b = s.b;
  if (count >= b.lanes() || s.program.dtype != DType::Float32) return load_operands(b, s.program.dtype, address, count);
  return b.CreateMaskedLoad(b.f32s(), address, llvm::Align(4), first_lanes(b, count), b.splat_real(0));
}

void store_lanes(IrBuilder& b, Value* vector, Value* address, int64_t count) {
  if (count >= b.lanes()) {
    b.CreateAlignedStore(vector, address, llvm::Align(4));
  } else {
    b.CreateMaskedStore(vector, address, llvm::Align(4), first_lanes(b, count));
  }
}

void prefetch(IrBuilder& b, Value* address) {
  constexpr int kRead = 0, kSecondLevel = 2, kData = 1;
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()}, {address, b.getInt32(kRead), b.getInt32(kSecondLevel), b.getInt32(kData)});
}

Value* fetched_row(IrBuilder& b, Value* n, int64_t step_keys) {
  constexpr int64_t kStreams = ir::DecodeProgram::kFetchStreams;
  Value *stream = b.CreateURem(n, b.constant(kStreams)), *row = b.CreateUDiv(n, b.constant(kStreams));
  return b.CreateAdd(b.CreateMul(stream, b.constant(step_keys / kStreams)), row);
}

void each_row_tile(IrBuilder& b, Value* rows, int tile, llvm::function_ref<void(Value* row, int rows)> body) {
  Value* whole = b.CreateSub(rows, b.CreateURem(rows, b.constant(tile)));
  const auto loop = [&](Value* first, Value* end, int step) {
    b.loop("rows", first, end, step, {}, [&](Value* row, llvm::ArrayRef<Value*>) {
      body(row, step);
      return Values{};
    });
  };
  if (tile > 1) loop(b.constant(0), whole, tile);
  loop(tile > 1 ? whole : b.constant(0), rows, 1);
}

void each_dim_vector(IrBuilder& b, int64_t dims, llvm::function_ref<void(Value* dim, int64_t count)> body) {
  const int64_t lanes = b.lanes(), whole = dims / lanes * lanes;
  if (whole > 0) {
    b.loop("dims", b.constant(0), b.constant(whole), lanes, {}, [&](Value* dim, llvm::ArrayRef<Value*>) {
      body(dim, lanes);
      return Values{};
    }, Trips::AtLeastOne);
  }
  if (whole < dims) body(b.constant(whole), dims - whole);
}

}  // namespace heddle::codegen
