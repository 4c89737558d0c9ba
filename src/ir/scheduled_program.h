// Scheduled program of a CPU kernel: a tile program with lanes, register tiles, passes and scratch memory decided.
//
// Lanes are query rows: the block's tile_rows rows lie in tile_rows / lanes vectors, and every value is a buffer in scratch memory.
//  - Matrix: f32 [columns][tile_rows], a fragment or packed operand, transposed: one column (a key or a dim) is contiguous.
//  - Staged: f32 [columns][width], rows of K or V that are not f32 in memory, one a key.
//  - Matrix and Staged of Element::Pairs: [ceil(columns / 2)][...] pairs of bfloat16, columns 2j and 2j + 1 (0 beyond the last), for
//    targets with dot products.
//  - Row: f32 [tile_rows].  Offsets: i64 [columns], element offsets of the live keys of a step.  Flags: u8 [columns], 1 = live key.
//  - Sink: where results of rows that do not exist are stored.  Frame: i64 [columns], the block's coordinates and base pointers.
// Rows at and beyond Sq repeat row Sq - 1: in packed operands and in the coordinate q that expressions see.
//
// Statements of a loop body run once a step: `keys` (<= keys_per_step) adjacent keys from `first_key`, all of them in whole tiles of
// one class, full or partial. Matrices over StepKeys have `keys` columns in use. Meaning of the statements:
//  - PackRows: out[d, r] = factor * tensor[q, d]; pairs are the elements as they are.  FillBuffer, CopyBuffer: every element.  RowMap: as in tile IR; Arg(i) is inputs[i].
//    ListKeys: out[n] = n * row stride of the tensor, for every n.
//  - StageRows: out[j, d] = tensor[key j, d], where j runs over the keys of the step, or (`live`, in partial steps) over the live ones.
//  - Contract over dims: out[n, r] = sum_d lhs[d, r] * rhs[first_key + n, d].  Over keys: out[d, r] = scale[r] * accumulate[d, r] +
//    sum_j lhs[j, r] * rhs[key j, d]; with `live`, j runs over the live keys that `live` lists (all keys in full steps). The rows of rhs
//    are read where they are or, if they are not f32 in memory, from where StageRows put the same keys. With pairs on both sides both
//    products of a pair join the sum at once, and factors multiply the sums.
//  - RoundPairs: out = in, rounded to bfloat16, as many columns as a contract over keys reads.
//    `column_max`: a Row that receives the maximum of -FLT_MAX and out over all columns (partial steps may overwrite it later).
//    `tile_columns` columns are accumulated in registers at a time.
//  - Sweep: one pass over the columns of matrices. Arg(i) in its expressions is local i; locals are defined once, in order.
//    Loads read the column (or, `row`, the Row once); a map with only_partial hands on local `identity` in full steps; a Reduce starts
//    from -FLT_MAX or 0; a Flag stores whether some row satisfies the predicate (partial steps only); a Store with `compact` writes,
//    in partial steps, only live columns, densely, and lists their offsets. `partial_only` sweeps run in partial steps alone.
//  - KeyLoopSchedule: as tile IR's KeyLoop, in steps of up to tiles_per_step adjacent tiles; state is carried in buffers.
//  - StoreColumns, LoadColumns, SoftmaxRows: StoreValues, LoadValues and SoftmaxValues of the tile IR. `slots`: i64 [tile_rows], the slots
//    of the first key of a full tile.
//  - StoreRows: tensor[q, d] = scale[r] * in[d, r] for existing rows, rounded to the tensor's type; a Row is stored as LSE.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>
#include "heddle/target.h"
#include "src/ir/expr.h"
#include "src/ir/loop_nest.h"
#include "src/ir/tile_program.h"

namespace heddle::ir {

using BufferId = int;  ///< Index into ScheduledProgram::buffers.
inline constexpr BufferId kNoBuffer = -1;

enum class Element { F32, Pairs };
enum class BufferKind { Matrix, Row, Staged, Offsets, Flags, Sink, Frame };

struct Buffer {
  std::string name;
  BufferKind kind = BufferKind::Matrix;
  int64_t columns = 1;  ///< Elements for Offsets, Flags, Sink and Frame.
  int64_t width = 1;    ///< Of Staged: elements of a row.
  Element element = Element::F32;  ///< Of Matrix and Staged.
  int64_t offset = 0;   ///< In bytes from the start of scratch; a multiple of 64.
  int64_t bytes = 0;
};

/// A matrix, each row multiplied by a Row (or by 1).
struct ScaledMatrix { BufferId matrix = kNoBuffer, scale = kNoBuffer; };
/// Rows of K or V, where they are or in `staged`: factor (and AttentionArgs::scale) times the element.
struct KeyRows { TensorId tensor = TensorId::K; bool softmax_scale = false; double factor = 1.0; BufferId staged = kNoBuffer; };
/// The live keys of a step for one predicate: what a Flag marks and a compacting Store lists.
struct LiveKeys { BufferId flags = kNoBuffer, offsets = kNoBuffer; };

struct PackRows { BufferId out = kNoBuffer; TensorId tensor = TensorId::Q; bool softmax_scale = false; double factor = 1.0; };
struct FillBuffer { BufferId out = kNoBuffer; double value = 0; };
struct CopyBuffer { BufferId out = kNoBuffer, in = kNoBuffer; };
struct ListKeys { BufferId out = kNoBuffer; TensorId tensor = TensorId::V; };
/// `all_keys`: the list that ListKeys made for the tensor.
struct StageRows { BufferId out = kNoBuffer; TensorId tensor = TensorId::K; BufferId all_keys = kNoBuffer; LiveKeys live; };
struct RoundPairs { BufferId out = kNoBuffer, in = kNoBuffer; LiveKeys live; };
struct RowMap { BufferId out = kNoBuffer; std::vector<BufferId> inputs; Expr expr; };
enum class Contraction { OverDims, OverKeys };
struct Contract {
  Contraction kind = Contraction::OverDims;
  BufferId out = kNoBuffer, lhs = kNoBuffer;
  KeyRows rhs;
  ScaledMatrix accumulate;
  BufferId all_keys = kNoBuffer;  ///< Over keys that are not staged: the list that ListKeys made for rhs.tensor.
  LiveKeys live;
  BufferId column_max = kNoBuffer;
  int tile_columns = 1;
};

struct SweepLoad { int local; BufferId buffer; bool row; };
struct SweepMap { int local; Expr expr; bool only_partial; int identity; };
struct SweepReduce { BufferId row; int local; Reduction reduction; };
struct SweepFlag { BufferId flags; Expr predicate; };
/// `live` is used by compacting stores only; `tensor` is the operand whose row offsets are listed.
struct SweepStore { BufferId matrix; int local; bool compact; LiveKeys live; TensorId tensor; };
#define HEDDLE_SWEEP_OPS(X) X(SweepLoad) X(SweepMap) X(SweepReduce) X(SweepFlag) X(SweepStore)
using SweepOp = std::variant<SweepLoad, SweepMap, SweepReduce, SweepFlag, SweepStore>;
struct Sweep { Extent columns = Extent::StepKeys; bool partial_only = false; std::vector<SweepOp> ops; };

struct StoreColumns { BufferId in = kNoBuffer, slots = kNoBuffer; Expr slot, allowed; };
struct LoadColumns { BufferId out = kNoBuffer, slots = kNoBuffer; Expr slot, allowed; };
struct SoftmaxRows { BufferId lse = kNoBuffer; Expr count; };
struct StoreRows { TensorId tensor = TensorId::O; ScaledMatrix in; };

struct ScheduledStatement;
using ScheduledBody = std::vector<ScheduledStatement>;
struct KeyLoopSchedule {
  LoopSource source = LoopSource::Nest;
  LoopNest full, partial;
  Expr predicate;
  int64_t tiles_per_step = 1;
  ScheduledBody body;
};

// The closed set of scheduled statements, in one place.
#define HEDDLE_SCHEDULED_STATEMENTS(X) \
  X(PackRows) X(FillBuffer) X(CopyBuffer) X(ListKeys) X(StageRows) X(RoundPairs) X(RowMap) X(Contract) X(Sweep) X(KeyLoopSchedule) \
  X(StoreColumns) X(LoadColumns) X(SoftmaxRows) X(StoreRows)

struct ScheduledStatement {
  std::variant<PackRows, FillBuffer, CopyBuffer, ListKeys, StageRows, RoundPairs, RowMap, Contract, Sweep, KeyLoopSchedule, StoreColumns,
               LoadColumns, SoftmaxRows, StoreRows>
      op;
};

struct ScheduledProgram {
  std::string name;
  Target target;
  DType dtype = DType::Float32;  ///< Of Q, K, V and O in memory.
  int64_t tile_rows = 32, tile_keys = 16, head_dim = 64, value_dim = 64;
  std::vector<std::string> int_params, real_params;
  std::vector<TableDeclaration> tables;
  std::vector<Buffer> buffers;
  BufferId frame = kNoBuffer, sink = kNoBuffer;
  int64_t scratch_bytes = 0;
  ScheduledBody body;

  int lanes() const { return target.lanes(); }
  int64_t needed(const Buffer& buffer) const;  ///< Bytes.
  bool multiplies_pairs() const { return dtype == DType::BFloat16 && target.bfloat16_dots; }
  int64_t dims(TensorId tensor) const { return tensor == TensorId::V || tensor == TensorId::O ? value_dim : head_dim; }
  int vectors() const { return static_cast<int>(tile_rows / target.lanes()); }
  int64_t keys_per_step(const KeyLoopSchedule& loop) const { return loop.tiles_per_step * tile_keys; }
};

enum class Access { Read, Write };
/// Calls `visit` for each buffer operand of the statement itself (not of a loop's body): reads first, then writes.
void visit_buffers(ScheduledStatement& statement, const std::function<void(BufferId&, Access)>& visit);
void visit_buffers(const ScheduledStatement& statement, const std::function<void(BufferId, Access)>& visit);

std::string print(const ScheduledProgram& program);

/// Checks: rows fill whole vectors; register tiles of several columns keep to registers (columns * vectors + vectors + 1 of them);
/// buffers are aligned, inside scratch and disjoint; every operand is a buffer of the kind and size its use needs; locals are defined
/// once, before use; steps stand in loops and stores outside. Throws InternalError naming the rule.
void verify(const ScheduledProgram& program);

}  // namespace heddle::ir
