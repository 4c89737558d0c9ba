// The isl stages of one mask, each under its own operation budget: rows, tile nests and lattice of a formula over q and k.
//
// Everything throws NotAffine or OverBudget when isl cannot do it, after the stage's cost was logged.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>
#include "src/analysis/nest_reader.h"
#include "src/analysis/tile_relations.h"

namespace heddle::analysis {

/// A formula over q >= 0 and k >= 0 below `bounds`.
struct MaskSource {
  ir::Expr mask;
  std::map<std::string, ir::Expr> aliases;  ///< Variables of the mask that stand for expressions, e.g. a number of lines.
  PlaneBounds bounds;
};

struct StageLog {
  std::string prefix;  ///< Of stage names, e.g. "rows".
  uint64_t budget = 0;
  std::vector<StageCost>* costs = nullptr;
};

/// How tiles of a source are numbered and bounded.
struct TileQuery {
  TileShape shape;
  bool transposed = false;  ///< Blocks are of k, visited tiles of q; shape keeps its meaning.
  std::string count, whole;           ///< Names of the tile counts that bound visited tiles; both empty: unbounded.
  std::optional<int64_t> length;      ///< Fixed length of the visited axis.
  NestNames names;
};

struct TileNests {
  ir::LoopNest partial, full;
};

ir::LoopNest row_nest(const MaskSource& source, const NestNames& names, const StageLog& log);
TileNests tile_nests(const MaskSource& source, const TileQuery& query, const StageLog& log);
/// Greatest common stride of the allowed k of all rows, and their offset as an expression of `outer`.
MaskFacts::Lattice lattice_of(const MaskSource& source, const ir::Expr& outer, const StageLog& log);

}  // namespace heddle::analysis
