// The plan of one attention kernel: complete, printable data that says what will be done and why the alternatives lost.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "src/ir/attention_problem.h"
#include "src/ir/expr.h"
#include "src/ir/loop_nest.h"

namespace heddle::plan {

/// Where a pass gets its key tiles from. Nest: closed loops from the facts. Tested: every key tile below NK is classified in the
/// kernel by evaluating the mask (exact for any mask, costs one predicate a pair). Listed: lists that each bind of tables makes.
enum class TileSource { Nest, Tested, Listed };

/// One sweep over the keys of a row block: the tiles of one mask component, full and partial apart.
struct PassPlan {
  ir::Expr mask;                ///< Null: every pair. What partial tiles evaluate; passes of one plan have disjoint masks.
  TileSource source = TileSource::Nest;
  ir::LoopNest full, partial;   ///< Free names as in analysis::TileRelation; empty unless Nest.
  ir::Expr slot;                ///< ThreeKernels: slot of an allowed pair in its compressed row (ir::StoreValues).
  std::string components;       ///< What it covers, in words: "window of 256 keys", as the facts print it.
};

/// How a row block is computed. Fused: one sweep with a running softmax. ThreeKernels (SPLAT): scores into compressed rows (SDDMM),
/// their softmax in place, and the product with V (SpMM); the probabilities stay.
enum class Family { Fused, ThreeKernels };

/// A part of the compressed rows: row q keeps keys offset, offset + stride, ..., `count` of them.
struct RowComponent {
  ir::Expr offset, count;      ///< Int over q; counts are >= 0.
  int64_t stride = 1;
};

/// A choice that was priced. Cost in modelled cycles per (batch, head) at the nominal length of the plan.
struct Alternative {
  std::string name;             ///< "fused, 32 rows x 16 keys, nests"
  double cost = 0;
  std::string verdict;          ///< "chosen" or why it lost: "1.21x: 287 of 543 keys a row block are waste".
};

struct KernelPlan {
  ir::AttentionProblem problem;
  std::string gpu;              ///< The GPU target ("cuda:sm_80") that the plan is for; empty: problem.target.
  Family family = Family::Fused;
  /// Argument order of the kernel where formula rewrites dropped or renamed parameters; unset: that of `problem`.
  std::optional<ir::ParameterOrder> parameters;
  int64_t tile_rows = 32;       ///< Query rows of a block (multiple of the target's lanes); for few queries heads.
  int64_t tile_keys = 16;       ///< Granularity of tiles along keys.
  int64_t keys_per_step = 96;   ///< Adjacent tiles of one class are processed together up to this many keys.
  std::vector<PassPlan> passes; ///< Run in this order for every row block, merged through the running (m, l, O).
  std::vector<RowComponent> components;  ///< ThreeKernels: one a pass, in the order of slots.
  ir::Expr values_count;        ///< ThreeKernels: allowed pairs of row q.
  std::vector<Alternative> alternatives;
  std::vector<std::string> notes;  ///< Sentences for explain(): what the facts and counts said, with numbers.
  int64_t nominal_length = 4096;  ///< Sq = Sk at which alternatives were priced.
  int ranks = 1;
};

/// Throws InternalError naming the rule: tile sizes positive, rows a multiple of lanes, steps whole tiles, nests only where used.
void verify(const KernelPlan& plan);
std::string print(const KernelPlan& plan);    ///< Everything above as text (`--stage plan`).
std::string explain(const KernelPlan& plan);  ///< Sentences: what was understood, what is done, why it is fast, what lost.

}  // namespace heddle::plan
