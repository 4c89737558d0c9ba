// The cost model of fused attention on CPUs: modelled cycles of one head from exact tile counts.
//
// Kernels keep query rows in vector lanes: a register tile holds `keys` x `vectors` accumulators. All cycles are of one core; a
// "vector" is Target::lanes() query rows. Constants were fitted to kernels of head dims 40..128 with windows of 64..2048 keys.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/target.h"
#include "src/plan/kernel_plan.h"
#include "src/plan/nest_tally.h"

namespace heddle::plan {

/// Accumulators of the micro kernel: keys (or value dims) x vectors of rows.
struct RegisterTile {
  int64_t keys = 1, vectors = 1;
  bool operator==(const RegisterTile&) const = default;
};

/// Keys of a full step: a step's scores stay in the first-level cache, and every register tile divides it.
inline constexpr int64_t kKeysPerStep = 96;

/// The largest register tile for blocks of `rows` whose keys divide a full step: keys * vectors + vectors + 1 registers are needed
/// (accumulators, operands, one broadcast); a tile that passes the register file spills, at half the speed. `vectors` divides
/// rows / lanes.
RegisterTile register_tile(const Target& target, int64_t rows);

struct CpuCosts {
  double fmas_per_cycle = 2;         ///< Vector multiply-adds a cycle at peak.
  double one_vector = 0.72;          ///< Share of that peak for register tiles of 1, 2 and more vectors.
  double two_vectors = 0.91;
  double more_vectors = 0.95;
  double softmax = 6;                ///< Cycles a vector of scores: running maximum, exponential, sum.
  double operation = 0.5;            ///< Cycles a vector and operation of a mask or score formula.
  double function = 6;               ///< Cycles a vector and exp, tanh, ... of a score formula.
  double stage = 1.5;                ///< Cycles a row of K or V and vector of its 16-bit elements, in every row block: widening or pairing.
  double mask_pass = 1;              ///< Cycles a vector of scores in a partial tile beside its operations: load, blend, store.
  double tail = 0.5;                 ///< Extra time of a key outside whole register tiles, relative to one inside.
  double step = 1.5;                 ///< Cycles a vector and value dim in a step: rescaling the output.
  double block = 9;                  ///< Cycles a vector and dim of q and o in a row block: packing Q, unpacking O.
  double whole_columns = 20;         ///< Cycles a vector of scores of full tiles that go through compressed rows, all three kernels together.
  double single_pairs = 100;         ///< The same of partial tiles, whose pairs are scattered and gathered.
  double pass = 200;                 ///< Cycles a row block and pass beyond the first: loop set-up, short runs.
  static CpuCosts of(const Target& target);
};

/// Work of one pass over the whole grid at the nominal length.
struct PassWork {
  NestTally full, partial;
  int64_t tested_tiles = 0;   ///< Tiles whose mask is evaluated to class them.
  ir::Expr mask;              ///< Of partial and tested tiles; null: none.
};

struct GridWork {
  int64_t tile_rows = 32, tile_keys = 16, blocks = 0;
  std::vector<PassWork> passes;
};

/// Modelled cycles of one head.
double price(const ir::AttentionProblem& problem, const GridWork& work, const CpuCosts& costs);

/// The same work by three kernels on compressed rows: beside the products of the fused kernel, scores go to memory and back twice.
double price_three_kernels(const ir::AttentionProblem& problem, const GridWork& work, const CpuCosts& costs);

/// Cycles a vector of elements that evaluating `formula` takes: operations on q or k alone are hoisted and free.
double formula_cycles(const ir::Expr& formula, const CpuCosts& costs);

}  // namespace heddle::plan
