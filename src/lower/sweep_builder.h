// Collects elementwise maps and reductions over the columns of fragments into one pass.
#pragma once
#include <map>
#include <optional>
#include <set>
#include "src/ir/scheduled_program.h"
#include "src/ir/tile_program.h"

namespace heddle::lower {

class SweepBuilder {
 public:
  explicit SweepBuilder(ir::Extent columns) { sweep_.columns = columns; }

  ir::Extent columns() const { return sweep_.columns; }
  bool reduces_to(ir::ValueId row) const { return reduced_.contains(row); }
  bool defines(ir::ValueId fragment) const { return defined_.contains(fragment); }
  const std::map<ir::ValueId, int>& defined() const { return defined_; }
  /// Matrices the pass reads, and the buffer each came from.
  const std::map<ir::ValueId, int>& loaded() const { return loaded_; }
  const ir::Sweep& sweep() const { return sweep_; }

  /// Values are buffers here: value v lies in buffer v until buffers are assigned. `is_row` tells Rows from fragments.
  void map(const ir::Map& map, const std::function<bool(ir::ValueId)>& is_row);
  void reduce(const ir::RowReduce& reduce);
  void flag(ir::BufferId flags, const ir::Expr& predicate) { sweep_.ops.emplace_back(ir::SweepFlag{flags, predicate}); }
  void store(ir::BufferId matrix, ir::ValueId value) {
    sweep_.ops.emplace_back(ir::SweepStore{matrix, local(value, false), false, {}, ir::TensorId::V});
  }
  void store_live(ir::BufferId matrix, ir::ValueId value, const ir::LiveKeys& live, ir::TensorId tensor) {
    sweep_.ops.emplace_back(ir::SweepStore{matrix, local(value, false), true, live, tensor});
  }
  /// Turns the pass into one that partial steps alone run.
  void drop_reductions_of_full_steps() { sweep_.partial_only = true; }
  /// The local whose value `value` has in full steps, followed through maps of partial steps; nullopt when full steps compute it.
  std::optional<ir::ValueId> identity(ir::ValueId value) const;

 private:
  int local(ir::ValueId value, bool row);

  ir::Sweep sweep_;
  int next_local_ = 0;
  std::map<ir::ValueId, int> defined_, loaded_, rows_;
  std::map<ir::ValueId, ir::ValueId> identity_;  ///< Of values that full steps do not compute.
  std::set<ir::ValueId> reduced_;
};

}  // namespace heddle::lower
