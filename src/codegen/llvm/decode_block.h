// What the functions of a kernel for few queries know of their block: coordinates, base pointers, scratch buffers.
#pragma once
#include "src/codegen/llvm/block_context.h"
#include "src/codegen/llvm/operand_types.h"
#include "src/ir/decode_program.h"

namespace heddle::codegen {

/// Uniform values of one block, valid in one function.
struct DecodeBlock {
  Value *args, *scratch;
  ScalarExpr uniform;  ///< Knows b, q, the sizes (Sk of this batch) and the Int parameters; not h, which differs between rows.
  Names reals;
  Value *rows, *first_head;    ///< i64: query heads [first_head, first_head + rows).
  Value *keys, *values;        ///< Row 0 of K and V for the block's head (of page 0, with a page table).
  Value* part = nullptr;       ///< Known in the block's own function only.

  Value* name(const std::string& variable) { return uniform(ir::var(variable)); }
};

/// One step: `keys` (1 to step_keys) keys from `first_key`.
struct DecodeStep {
  IrBuilder& b;
  const ir::DecodeProgram& program;
  DecodeBlock& block;
  VectorMath& math;
  Value *first_key, *keys, *partial;  ///< i64, i64, i1

  Value* buffer(ir::DecodeBuffer id) const;
  /// Address of f32 number `index` of a buffer.
  Value* at(ir::DecodeBuffer id, Value* index) const { return b.element(b.getFloatTy(), buffer(id), index); }
  /// Address of element `index` of a row of Q, K or V.
  Value* operand(Value* row_address, Value* index) const { return operand_element(b, program.dtype, row_address, index); }
  Value* operand(Value* row_address, int64_t index) const { return operand(row_address, b.constant(index)); }
  /// Address of row `row` of a buffer with `columns` f32 a row.
  Value* row(ir::DecodeBuffer id, Value* row_index, int64_t columns) const { return at(id, b.CreateMul(row_index, b.constant(columns))); }
};

/// Decodes block `index` of the grid (heddle/kernel_abi.h); NK, NF and qb = q are defined too.
DecodeBlock enter_decode_block(IrBuilder& b, const ir::DecodeProgram& program, Value* args, Value* scratch, Value* index);
/// Keeps what reload_decode_block needs in the frame buffer.
void save_decode_block(IrBuilder& b, const ir::DecodeProgram& program, DecodeBlock& block);
DecodeBlock reload_decode_block(IrBuilder& b, const ir::DecodeProgram& program, Value* args, Value* scratch);

/// A field of heddle::SplitArgs.
Value* split_integer(IrBuilder& b, const DecodeBlock& block, size_t offset);
Value* split_pointer(IrBuilder& b, const DecodeBlock& block, size_t offset);

/// A vector of Q, K or V as f32: its first `count` elements, and 0 behind them.
Value* load_lanes(DecodeStep& s, Value* address, int64_t count);
/// Stores an f32 vector anywhere; the first `count` lanes only where that is fewer than all.
void store_lanes(IrBuilder& b, Value* vector, Value* address, int64_t count);

/// Asks the second-level cache for the line at an address; any address is harmless.
void prefetch(IrBuilder& b, Value* address);

/// The row of a step that is fetched when key number n is worked on: rows of kFetchStreams places of the step in turn.
Value* fetched_row(IrBuilder& b, Value* n, int64_t step_keys);

/// Calls body(first row, rows) for whole tiles of `tile` rows, then for single rows.
void each_row_tile(IrBuilder& b, Value* rows, int tile, llvm::function_ref<void(Value* row, int rows)> body);
/// Calls body(dim, count) for vectors of `dims` dims: whole ones in a loop, then the last `count` dims.
void each_dim_vector(IrBuilder& b, int64_t dims, llvm::function_ref<void(Value* dim, int64_t count)> body);

/// Starts a block: scaled queries, and the empty state of the softmax.
void emit_decode_prologue(DecodeStep& s);
/// Ends a block: O and LSE of its part.
void emit_decode_epilogue(DecodeStep& s);
/// A step of one pass: row offsets, scores, softmax, output.
void emit_decode_step(DecodeStep& s, const ir::DecodePass& pass);
void emit_decode_scores(DecodeStep& s);
/// The running softmax of row `row`. With `partial`, lists the keys that take part in Live and returns their number.
Value* emit_decode_softmax(DecodeStep& s, const ir::DecodePass& pass, Value* row, bool partial);
/// The output of `rows` rows over the `count` keys (numbers within the step) that `list` has; null: all of them.
void emit_decode_values(DecodeStep& s, Value* row, int rows, Value* list, Value* count);
/// Whether some and all pairs of the block's rows with the step's keys satisfy the mask: two i1.
Values emit_decode_test(DecodeStep& s, const ir::Expr& mask);

/// Calls `step` for the steps of a pass inside the block's part.
void emit_decode_loop(IrBuilder& b, const ir::DecodeProgram& program, DecodeBlock& block, VectorMath& math, const ir::DecodePass& pass,
                      llvm::function_ref<void(Value* first_key, Value* keys, Value* partial)> step);

}  // namespace heddle::codegen
