// The isl stages of one mask, each under its own operation budget: rows, tile nests and lattice of a formula over q and k.
//
// Everything throws NotAffine or OverBudget when isl cannot do it, after the stage's cost was logged.
#pragma once
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
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

/// Runs `work` under the budget and logs its cost as a stage `name` of the log's prefix.
void isl_stage(IslContext& context, const StageLog& log, const char* name, const std::function<void()>& work);
/// The source on its plane, with every name of its mask as a parameter.
Plane whole_plane(const IslContext& context, const MaskSource& source);

/// Rows of a source as a nest.
ir::LoopNest row_nest(const MaskSource& source, const NestNames& names, const StageLog& log);

/// Tiles of sources on the unbounded plane. What isl finds for a shape is kept: the transposed relation is read off the same sets; and
/// so is that it finds nothing, which is thrown again without another try.
class TileStages {
 public:
  /// Tiles of each block of q, or of k when `transposed` (shape keeps its meaning). `source` must outlive this object.
  TileNests nests(const MaskSource& source, TileShape shape, bool transposed, const NestNames& names, const StageLog& log);

 private:
  struct Work {
    IslContext context;
    Plane plane;
    TileSets sets;
  };
  struct Outcome {
    std::unique_ptr<Work> work;
    std::exception_ptr error;
  };
  Work& work(const MaskSource& source, TileShape shape, const StageLog& log);
  std::map<std::pair<const MaskSource*, TileShape>, Outcome> known_;
};

/// Greatest common stride of the allowed k of all rows, and their offset as an expression of `outer`.
MaskFacts::Lattice lattice_of(const MaskSource& source, const ir::Expr& outer, const StageLog& log);

}  // namespace heddle::analysis
