// Tile IR: what one block of a kernel does, without threads, lanes, warps or unrolling.
//
// Values (SSA, each defined once):
//  - Tile: a staged operand [rows x cols] read from a tensor, e.g. the query rows or the keys of a step; TileProgram::dtype in memory.
//  - Fragment: a computed f32 matrix [rows x cols] owned by the block, e.g. scores (block rows x keys of the step).
//  - Row: one f32 per block row, e.g. the running maximum.
// Block coordinates are b, h, qb; block rows are q = qb * tile_rows + r. Rows with q >= Sq do not exist: implementations may compute
// anything for them that reads no memory outside the tensors and stores nothing.
// Inside a KeyLoop body the keys of a step are a set of whole key tiles of one class (full or partial), clipped to k < Sk; how many
// tiles make a step is a scheduling choice, so bodies must be correct for any number.
// Map semantics: out[r, c] = expr, where Arg(i) is inputs[i][r, c] (a Row input is read at [r]) and q, k, b, h, sizes and params have
// their values at that element. A Map with only_partial is the identity on inputs[0] in full tiles.
// Reductions over keys: Max starts from and never returns less than -FLT_MAX; NaN never wins a Max (and reaches the result through the
// exponentials); Sum starts from 0. Order of accumulation is unspecified but fixed for a schedule.
// Values are compressed scores or probabilities (ACSR, as in SPLAT): row q of head h of batch b holds its allowed pairs one behind the
// other, pair (q, k) in slot `slot`, an Int expression of q and k that grows by one from key to key within a full tile. Pairs of one
// row have slots of their own; slots are defined where `allowed` holds. A row may be longer than its pairs: AttentionArgs::values_width.
// Mma contracts lhs [rows x n] with rhs [n x cols] (or rhs [cols x n] when rhs_transposed), f32 accumulation. With `live` set,
// keys that no existing row of the block may attend (live false for every row) take no part: their rhs rows are never multiplied.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>
#include "heddle/bind_program.h"
#include "src/ir/expr.h"
#include "src/ir/loop_nest.h"

namespace heddle::ir {

enum class ValueKind { Tile, Fragment, Row };
enum class TensorId { Q, K, V, O, Lse };
const char* text(TensorId tensor);  ///< "Q", ..., "LSE"

/// Symbolic extents of a tile axis.
enum class Extent { BlockRows, StepKeys, HeadDim, ValueDim, One };

using ValueId = int;  ///< Index into TileProgram::values.
inline constexpr ValueId kNoValue = -1;

struct ValueInfo {
  ValueKind kind;
  Extent rows, cols;
  std::string name;  ///< "q", "s", "m", ... for printing; unique.
};

struct Statement;
using Body = std::vector<Statement>;

/// out = scale * tensor rows: the block's rows (Q) or the step's keys (K, V; head h reads KV head h / (H / Hkv)).
/// `softmax_scale` multiplies by AttentionArgs::scale as well.
struct Stage { ValueId out; TensorId tensor; bool softmax_scale = false; double factor = 1.0; };
/// out = value everywhere (Row or Fragment).
struct Fill { ValueId out; double value; };
struct Mma { ValueId out, lhs, rhs; bool rhs_transposed = false; ValueId accumulate = kNoValue; Expr live; };
struct Map { ValueId out; std::vector<ValueId> inputs; Expr expr; bool only_partial = false; };
enum class Reduction { Max, Sum };
/// Row out = reduction over the columns of the fragment `in`.
struct RowReduce { ValueId out, in; Reduction reduction; };
/// One carried value of a loop: `inner` inside the body is `init` first, then the previous step's `yield`; `out` after the loop.
struct Carried { ValueId init, inner, yield, out; };
enum class LoopSource { Nest, Tested, Listed };
/// Sweep over key tiles. Nest: `full`/`partial` visit key tiles (free names as analysis::TileRelation). Tested: every tile kb < NK,
/// classed by `predicate` over existing rows: skipped when false everywhere, full when true everywhere and the tile is whole. Listed: the runs that the bind step made of `predicate`
/// (AttentionArgs::list_runs): every tile that has an allowed pair, full only where Tested says full.
struct KeyLoop { LoopSource source; LoopNest full, partial; Expr predicate; std::vector<Carried> carried; Body body; };
/// values[b, h, q, slot] = in at the allowed pairs of existing rows (full tiles: at every pair), in loops.
struct StoreValues { ValueId in; Expr slot, allowed; };
/// out = values[b, h, q, slot] at the same pairs, 0 at others, in loops.
struct LoadValues { ValueId out; Expr slot, allowed; };
/// The softmax in base 2 of each row's first `count` values, in place; 0 in its slots beyond. `lse`: a Row, in natural logarithms. A row
/// without values, or with none but -inf, becomes 0 and has LSE -inf. Outside of loops.
struct SoftmaxValues { ValueId lse; Expr count; };
/// tensor[b, h, q, :] = in for existing rows (O from a Fragment, rounded to TileProgram::dtype; Lse from a Row, f32).
struct Store { TensorId tensor; ValueId in; };

// The closed set of statements, in one place.
#define HEDDLE_TILE_STATEMENTS(X) X(Stage) X(Fill) X(Mma) X(Map) X(RowReduce) X(KeyLoop) X(StoreValues) X(LoadValues) \
  X(SoftmaxValues) X(Store)

struct Statement {
  std::variant<Stage, Fill, Mma, Map, RowReduce, KeyLoop, StoreValues, LoadValues, SoftmaxValues, Store> op;
};

struct TileProgram {
  std::string name;            ///< Readable family name, e.g. "attention_fused".
  DType dtype = DType::Float32;  ///< Elements of Q, K, V and O in memory; an Mma may round a computed operand to it, and to nothing narrower.
  int64_t tile_rows = 32, tile_keys = 16, head_dim = 64, value_dim = 64;
  int64_t keys_per_step = 96;  ///< Wish of the plan; a schedule may take fewer.
  std::vector<std::string> int_params, real_params;
  std::vector<TableDeclaration> tables;  ///< That expressions read, sorted by name.
  std::vector<ValueInfo> values;
  Body body;
};

std::string print(const TileProgram& program);

/// Checks every rule above: each value defined once, before use and with the kind and extents its uses need; carried values complete;
/// stores last; tile sizes positive; masks Bool and Int-only; free names known. Throws InternalError naming the rule and the statement.
void verify(const TileProgram& program);

}  // namespace heddle::ir
