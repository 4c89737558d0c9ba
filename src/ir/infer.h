// Shape and dtype inference, one function an op, called through infer_types() of graph.h.
#pragma once
#include <vector>

#include "src/ir/graph.h"

namespace heddle::ir {

using Types = std::vector<TensorType>;

#define X(name, fewest, most, attributes) Types infer_##name(const Node& node, const Types& inputs);
HEDDLE_GRAPH_OPS(X)
#undef X

/// Refuses a wrong number of inputs.
void check_arity(const Node& node, size_t inputs);
/// Refuses an input that is not of this dtype.
void require_dtype(const Types& inputs, int index, DType dtype);
void require_float(const Types& inputs);
/// Reads an axis attribute, negative ones from the end. Throws NodeError outside [-rank, rank).
int64_t axis_of(const Node& node, int64_t rank, int64_t fallback);
/// Product of sizes. Throws NodeError past 2^63 - 1.
int64_t checked_product(const std::vector<int64_t>& shape);

}  // namespace heddle::ir
