// The float64 judge applied to the operands of one attention of a graph.
#pragma once
#include <vector>

#include "heddle/graph.h"
#include "src/ir/expr.h"

namespace heddle::engine {

/// O [batch, heads, sq, value_dim], dense, for the float32 views q, k, v of `use`. Null formulas mean every pair and s itself.
std::vector<double> reference_attention(const ir::Expr& mask, const ir::Expr& score, const AttentionUse& use, int threads);

}  // namespace heddle::engine
