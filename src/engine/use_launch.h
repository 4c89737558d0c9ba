// Launches of a kernel on the operands, tables and parameter values of one attention use, as often as one likes.
#pragma once
#include "heddle/graph.h"
#include "src/ir/attention_problem.h"

namespace heddle::engine {

/// The use's own kernel, or another one of a formula that names no more tables and parameters. Tables are bound once. `use` must outlive
/// it and stay as it is.
class UseLaunch {
 public:
  /// Throws as Attention::bind.
  UseLaunch(const AttentionUse& use, const Attention& kernel);
  /// Writes `o` [batch, heads, sq, value_dim]; gives the milliseconds of the launch alone.
  double run(const Tensor& o) const;

 private:
  const AttentionUse& use_;
  Attention kernel_;
  Binding binding_;  ///< Empty when the kernel reads no table.
  LaunchOptions options_;
};

/// The problem with the dynamic parameters replaced by the use's values: what judges and counts look at.
ir::AttentionProblem with_values(ir::AttentionProblem problem, const AttentionUse& use);

}  // namespace heddle::engine
