// Softmax, output and the ends of a block: keys in lanes for scores, dims in lanes for queries and outputs.
#include <cfloat>
#include <cstddef>
#include <limits>
#include <numbers>

#include "heddle/kernel_abi.h"
#include "src/codegen/llvm/decode_block.h"
#include "src/codegen/llvm/lane_sums.h"
#include "src/ir/rewrite.h"

namespace heddle::codegen {
namespace {

using ir::DecodeBuffer;
using ir::TensorId;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value* load_float(IrBuilder& b, Value* address) { return b.CreateAlignedLoad(b.getFloatTy(), address, llvm::Align(4)); }
void store_float(IrBuilder& b, Value* value, Value* address) { b.CreateAlignedStore(value, address, llvm::Align(4)); }

/// Formulas of one row with the vector of keys from number `n` of the step on.
class RowFormulas {
 public:
  RowFormulas(DecodeStep& s, Value* row, Value* n) : s_(s), n_(n), expr_(s.b, s.math, with_head(s, row), s.block.reals, coordinates(s, n)) {}

  /// A score in units of log2.
  Value* score(Value* product) {
    if (!s_.program.score) return product;
    expr_.bind(0, {product}, true);
    const ir::Expr formula = ir::substitute(s_.program.score, [](const ir::ExprNode& leaf) -> ir::Expr {
      return leaf.op == ir::Op::Var && leaf.name == "s" ? ir::arg(0, ir::Type::Real) : nullptr;
    });
    return s_.b.CreateFMul(expr_.real(formula)[0], s_.b.splat_real(std::numbers::log2e));
  }
  /// The keys of the step that the mask allows.
  Value* allowed(const ir::Expr& mask) {
    IrBuilder& b = s_.b;
    Value* numbers = b.CreateAdd(b.splat(n_), b.lane_numbers(64));
    Value* exists = b.CreateICmpSLT(numbers, b.splat(s_.keys));
    return mask ? b.CreateAnd(exists, expr_.predicate(mask)[0]) : exists;
  }
  Value* exists() { return allowed(nullptr); }

 private:
  static ScalarExpr with_head(DecodeStep& s, Value* row) {
    ScalarExpr uniform = s.block.uniform;
    uniform.define("h", s.b.CreateAdd(s.block.first_head, row));
    return uniform;
  }
  static RowCoordinates coordinates(DecodeStep& s, Value* n) {
    return {s.b.CreateAdd(s.first_key, n), s.b.CreateSub(s.block.name("Sk"), s.b.constant(1)), 1, "k", ""};
  }

  DecodeStep& s_;
  Value* n_;
  VectorExpr expr_;
};

/// Appends the numbers n + lane of the lanes set in `allowed` to Live; returns the new count.
Value* list_live(DecodeStep& s, Value* allowed, Value* n, Value* count) {
  IrBuilder& b = s.b;
  Value* list = s.buffer(DecodeBuffer::Live);
  Value* bits = b.CreateZExt(b.CreateBitCast(allowed, b.getIntNTy(static_cast<unsigned>(b.lanes()))), b.getInt64Ty());
  return b.loop("live", b.constant(0), b.constant(b.lanes()), 1, {count}, [&](Value* lane, llvm::ArrayRef<Value*> before) {
    b.CreateAlignedStore(b.CreateAdd(n, lane), b.element(b.getInt64Ty(), list, before[0]), llvm::Align(8));
    return Values{b.CreateAdd(before[0], b.CreateAnd(b.CreateLShr(bits, lane), b.constant(1)))};
  }, Trips::AtLeastOne)[0];
}

struct Scored { Value *largest, *live; };

/// Scores and masks a row of products in place.
Scored score_row(DecodeStep& s, const ir::DecodePass& pass, Value* row, bool partial) {
  IrBuilder& b = s.b;
  Value* scores = s.row(DecodeBuffer::Scores, row, s.program.step_keys);
  const Values result = b.loop("score", b.constant(0), s.keys, b.lanes(), {b.splat_real(-FLT_MAX), b.constant(0)},
                               [&](Value* n, llvm::ArrayRef<Value*> before) {
    Value* address = b.element(b.getFloatTy(), scores, n);
    RowFormulas formulas(s, row, n);
    Value *score = formulas.score(b.load_vector(address)), *live = before[1];
    if (partial) {
      Value* allowed = formulas.allowed(pass.mask);
      score = b.CreateSelect(allowed, score, b.splat_real(-kInfinity));
      live = list_live(s, allowed, n, live);
    }
    if (partial || s.program.score) b.store_vector(score, address);
    return Values{b.maximum(score, before[0]), live};
  }, Trips::AtLeastOne);
  return {largest_lane(b, result[0]), result[1]};
}

/// Turns scores into weights; returns their sums lane by lane.
Value* weigh_row(DecodeStep& s, Value* row, Value* maximum) {
  IrBuilder& b = s.b;
  Value *scores = s.row(DecodeBuffer::Scores, row, s.program.step_keys), *top = b.splat(maximum);
  return b.loop("weigh", b.constant(0), s.keys, b.lanes(), {b.splat_real(0)}, [&](Value* n, llvm::ArrayRef<Value*> before) {
    Value* address = b.element(b.getFloatTy(), scores, n);
    Value* weight = s.math.exp2(b.CreateFSub(b.load_vector(address), top));
    b.store_vector(weight, address);
    return Values{b.CreateFAdd(before[0], weight)};
  }, Trips::AtLeastOne)[0];
}

/// A tile of outputs: `rows` rows by `vectors` vectors from dim `dim`, the last of `last` lanes.
struct OutputTile {
  Value *row, *dim;
  int rows, vectors;
  int64_t last;
};

Value* output_address(DecodeStep& s, const OutputTile& tile, int r, int v) {
  Value* base = s.row(DecodeBuffer::Output, s.b.CreateAdd(tile.row, s.b.constant(r)), s.program.padded(s.program.value_dim));
  return s.b.element(s.b.getFloatTy(), base, s.b.CreateAdd(tile.dim, s.b.constant(v * s.b.lanes())));
}

Values rescaled(DecodeStep& s, const OutputTile& tile) {
  Values sums;
  for (int r = 0; r < tile.rows; ++r) {
    Value* factor = s.b.splat(load_float(s.b, s.at(DecodeBuffer::Factor, s.b.CreateAdd(tile.row, s.b.constant(r)))));
    for (int v = 0; v < tile.vectors; ++v) sums.push_back(s.b.CreateFMul(s.b.load_vector(output_address(s, tile, r, v)), factor));
  }
  return sums;
}

/// Adds weight times V row of key number n, and fetches the same dims of a later row of K.
Values add_key(DecodeStep& s, const OutputTile& tile, Value* n, Values sums) {
  IrBuilder& b = s.b;
  Value* offset = b.CreateAlignedLoad(b.getInt64Ty(), b.element(b.getInt64Ty(), s.buffer(DecodeBuffer::ValueRows), n), llvm::Align(8));
  Value* value = s.operand(s.operand(s.block.values, offset), tile.dim);
  Value* next_row = b.element(b.getInt64Ty(), s.buffer(DecodeBuffer::NextRows), fetched_row(b, n, s.program.step_keys));
  Value* next = b.CreateAlignedLoad(b.getInt64Ty(), next_row, llvm::Align(8));
  Value* later = s.operand(s.operand(s.block.keys, next), tile.dim);
  Values weights;
  for (int r = 0; r < tile.rows; ++r) {
    Value* scores = s.row(DecodeBuffer::Scores, b.CreateAdd(tile.row, b.constant(r)), s.program.step_keys);
    weights.push_back(b.splat(load_float(b, b.element(b.getFloatTy(), scores, n))));
  }
  for (int v = 0; v < tile.vectors; ++v) {
    prefetch(b, s.operand(later, int64_t{v} * b.lanes()));
    Value* vector = load_lanes(s, s.operand(value, int64_t{v} * b.lanes()), v + 1 == tile.vectors ? tile.last : b.lanes());
    for (int r = 0; r < tile.rows; ++r) {
      Value*& sum = sums[static_cast<size_t>(r * tile.vectors + v)];
      sum = b.fma(weights[static_cast<size_t>(r)], vector, sum);
    }
  }
  return sums;
}

void output_tile(DecodeStep& s, const OutputTile& tile, Value* list, Value* count) {
  IrBuilder& b = s.b;
  const Values sums = b.loop("pv", b.constant(0), count, 1, rescaled(s, tile), [&](Value* i, llvm::ArrayRef<Value*> before) {
    Value* n = list ? b.CreateAlignedLoad(b.getInt64Ty(), b.element(b.getInt64Ty(), list, i), llvm::Align(8)) : i;
    return add_key(s, tile, n, Values(before.begin(), before.end()));
  });
  for (int r = 0; r < tile.rows; ++r) {
    for (int v = 0; v < tile.vectors; ++v) b.store_vector(sums[static_cast<size_t>(r * tile.vectors + v)], output_address(s, tile, r, v));
  }
}

}  // namespace

Value* emit_decode_softmax(DecodeStep& s, const ir::DecodePass& pass, Value* row, bool partial) {
  IrBuilder& b = s.b;
  const Scored scored = score_row(s, pass, row, partial);
  Value *slot = s.at(DecodeBuffer::Maximum, row), *before = load_float(b, slot);
  Value* maximum = b.maximum(scored.largest, before);
  store_float(b, maximum, slot);
  Value* factor = s.math.exp2(b.splat(b.CreateFSub(before, maximum)));
  store_float(b, b.CreateExtractElement(factor, uint64_t{0}), s.at(DecodeBuffer::Factor, row));
  Value* sums = s.row(DecodeBuffer::Sum, row, b.lanes());
  Value* weights = weigh_row(s, row, maximum);
  b.store_vector(b.CreateFAdd(b.CreateFMul(b.load_vector(sums), factor), weights), sums);
  return scored.live;
}

void emit_decode_values(DecodeStep& s, Value* row, int rows, Value* list, Value* count) {
  const int64_t lanes = s.b.lanes(), tile_dims = s.program.value_vectors * lanes, dims = s.program.value_dim, whole = dims / tile_dims * tile_dims;
  if (whole > 0) {
    s.b.loop("tiles", s.b.constant(0), s.b.constant(whole), tile_dims, {}, [&](Value* dim, llvm::ArrayRef<Value*>) {
      output_tile(s, {row, dim, rows, s.program.value_vectors, lanes}, list, count);
      return Values{};
    }, Trips::AtLeastOne);
  }
  if (whole == dims) return;
  const int64_t rest = dims - whole, vectors = (rest + lanes - 1) / lanes;
  output_tile(s, {row, s.b.constant(whole), rows, static_cast<int>(vectors), rest - (vectors - 1) * lanes}, list, count);
}

Values emit_decode_test(DecodeStep& s, const ir::Expr& mask) {
  IrBuilder& b = s.b;
  return b.loop("test.rows", b.constant(0), s.block.rows, 1, {b.getFalse(), b.getTrue()}, [&](Value* row, llvm::ArrayRef<Value*> outer) {
    return b.loop("test", b.constant(0), s.keys, b.lanes(), Values(outer.begin(), outer.end()), [&](Value* n, llvm::ArrayRef<Value*> before) {
      Value* allowed = RowFormulas(s, row, n).allowed(mask);
      return Values{b.CreateOr(before[0], b.CreateOrReduce(allowed)), b.CreateAnd(before[1], b.CreateAndReduce(allowed))};
    }, Trips::AtLeastOne);
  }, Trips::AtLeastOne);
}

void emit_decode_prologue(DecodeStep& s) {
  IrBuilder& b = s.b;
  ArgumentReader args(b, s.block.args);
  const double units = s.program.score ? 1.0 : std::numbers::log2e;
  Value* scale = b.CreateAlignedLoad(b.getDoubleTy(), b.element(b.getInt8Ty(), s.block.args, offsetof(AttentionArgs, scale)), llvm::Align(8));
  Value* factor = b.splat(b.CreateFPTrunc(b.CreateFMul(scale, llvm::ConstantFP::get(b.getDoubleTy(), units)), b.getFloatTy()));
  Value* place = b.CreateAdd(b.CreateMul(s.block.name("b"), args.stride(TensorId::Q, 0)), b.CreateMul(s.block.name("q"), args.stride(TensorId::Q, 2)));
  Value *base = s.operand(args.base(TensorId::Q), place), *stride = args.stride(TensorId::Q, 1);
  b.loop("start", b.constant(0), s.block.rows, 1, {}, [&](Value* row, llvm::ArrayRef<Value*>) {
    Value* query = s.operand(base, b.CreateMul(b.CreateAdd(s.block.first_head, row), stride));
    Value* out = s.row(DecodeBuffer::Queries, row, s.program.padded(s.program.head_dim));
    each_dim_vector(b, s.program.head_dim, [&](Value* dim, int64_t count) {
      b.store_vector(b.CreateFMul(load_lanes(s, s.operand(query, dim), count), factor), b.element(b.getFloatTy(), out, dim));
    });
    Value* output = s.row(DecodeBuffer::Output, row, s.program.padded(s.program.value_dim));
    each_dim_vector(b, s.program.value_dim, [&](Value* dim, int64_t) { b.store_vector(b.splat_real(0), b.element(b.getFloatTy(), output, dim)); });
    store_float(b, llvm::ConstantFP::get(b.getFloatTy(), -FLT_MAX), s.at(DecodeBuffer::Maximum, row));
    b.store_vector(b.splat_real(0), s.row(DecodeBuffer::Sum, row, b.lanes()));
    return Values{};
  }, Trips::AtLeastOne);
  b.loop("every", b.constant(0), b.constant(s.program.step_keys), 1, {}, [&](Value* n, llvm::ArrayRef<Value*>) {
    b.CreateAlignedStore(n, b.element(b.getInt64Ty(), s.buffer(DecodeBuffer::Every), n), llvm::Align(8));
    return Values{};
  }, Trips::AtLeastOne);
}

namespace {

/// Where the block's part of row (b, h, q) goes.
Value* destination(DecodeStep& s, Value* base, size_t strides, Value* row) {
  IrBuilder& b = s.b;
  Value* coordinates[] = {s.block.name("b"), b.CreateAdd(s.block.first_head, row), s.block.name("q"), s.block.part};
  Value* offset = b.constant(0);
  for (size_t i = 0; i < std::size(coordinates); ++i) {
    offset = b.CreateAdd(offset, b.CreateMul(coordinates[i], split_integer(b, s.block, strides + i * sizeof(int64_t))));
  }
  return b.element(b.getFloatTy(), base, offset);
}

void store_output(DecodeStep& s, Value* row, Value* factor) {
  IrBuilder& b = s.b;
  Value* to = destination(s, split_pointer(b, s.block, offsetof(SplitArgs, o)), offsetof(SplitArgs, o_stride), row);
  Value* from = s.row(DecodeBuffer::Output, row, s.program.padded(s.program.value_dim));
  each_dim_vector(b, s.program.value_dim, [&](Value* dim, int64_t count) {
    Value* output = b.CreateFMul(b.load_vector(b.element(b.getFloatTy(), from, dim)), factor);
    store_lanes(b, output, b.element(b.getFloatTy(), to, dim), count);
  });
}

}  // namespace

void emit_decode_epilogue(DecodeStep& s) {
  IrBuilder& b = s.b;
  Value* lse_base = split_pointer(b, s.block, offsetof(SplitArgs, lse));
  b.loop("finish", b.constant(0), s.block.rows, 1, {}, [&](Value* row, llvm::ArrayRef<Value*>) {
    Value* sum = b.splat(sum_lanes(b, b.load_vector(s.row(DecodeBuffer::Sum, row, b.lanes()))));
    Value* empty = b.CreateFCmpOEQ(sum, b.splat_real(0));
    store_output(s, row, b.CreateSelect(empty, b.splat_real(0), b.CreateFDiv(b.splat_real(1), sum)));
    b.when(b.CreateIsNotNull(lse_base), [&] {
      Value* maximum = b.splat(load_float(b, s.at(DecodeBuffer::Maximum, row)));
      Value* natural = b.CreateFMul(b.CreateFAdd(maximum, s.math.log2(sum)), b.splat_real(std::numbers::ln2));
      Value* lse = b.CreateExtractElement(b.CreateSelect(empty, b.splat_real(-kInfinity), natural), uint64_t{0});
      store_float(b, lse, destination(s, lse_base, offsetof(SplitArgs, lse_stride), row));
    });
    return Values{};
  }, Trips::AtLeastOne);
}

}  // namespace heddle::codegen
