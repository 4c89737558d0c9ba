// Attributes of spec nodes: each op's table row says which there are and of what kind.
#pragma once
#include "dsl/dims.h"
#include "dsl/json_reader.h"
#include "heddle/formula.h"
#include "src/ir/graph.h"

namespace heddle::dsl {

/// Reads "attrs" of the node at `view` into node.attributes, node.mask and node.score. `graph` has the masks of the spec, and the
/// inputs and weights that formulas read as tables.
void read_attributes(const JsonView& view, const Dims& dims, const ir::Graph& graph, ir::Node& node);

/// Inputs and weights as declared tables, those whose names and dtypes formulas can have.
Parameters tables_of(const ir::Graph& graph);

/// float32, int32 or int64 in either spelling.
DType read_dtype(const JsonView& view);

}  // namespace heddle::dsl
