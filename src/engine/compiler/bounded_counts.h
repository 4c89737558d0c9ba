// Counts of a mask in bounded time: exact where that takes few enough steps, else an estimate that says so.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "src/analysis/cells.h"
#include "src/analysis/counts.h"
#include "src/analysis/sample.h"
#include "src/engine/compiler.h"

namespace heddle::engine {

/// Masks without closed form get the ranges of keys that a bind of their tables finds, so that documents of a million tokens are counted
/// exactly. All throw UserError as analysis::count does.
class BoundedCounts {
 public:
  /// What finding ranges may look at.
  struct BindLimits {
    int64_t pairs, ranges;
  };

  /// The request must outlive this.
  BoundedCounts(const FactsRequest& request, BindLimits bind);

  const analysis::MaskFacts& facts() const { return facts_; }
  analysis::Lengths lengths() const { return {request_.sq, request_.sk}; }
  /// nullopt: it takes more steps (analysis::CountLimits).
  std::optional<analysis::MaskCounts> count(analysis::CountRequest wanted, int64_t most_steps);
  std::optional<analysis::CellGrid> cells(analysis::TileShape cell, int64_t most_steps);

  analysis::PairSample sample_pairs() const;
  analysis::TileSample sample_tiles(analysis::TileShape shape) const;
  analysis::CellGrid sample_cells(analysis::TileShape cell, int64_t points) const;

 private:
  /// Whether every pair is to be looked at that nothing else decides.
  bool has_many_pairs() const;
  /// Share of pairs in partial blocks, at least; from a sample of them.
  double open_share();
  bool is_hopeless(int64_t most_steps);
  analysis::CountLimits limits(int64_t most_steps);

  const FactsRequest& request_;
  BindLimits bind_;
  std::map<std::string, int64_t> ints_;
  analysis::MaskFacts facts_;
  std::optional<double> open_share_;
  std::optional<analysis::KnownRanges> known_;
};

}  // namespace heddle::engine
