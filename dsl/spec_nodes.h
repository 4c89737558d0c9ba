// The part of a spec that lists nodes: attributes, names, order, and the types of everything they make.
#pragma once
#include "dsl/dims.h"
#include "dsl/json_reader.h"
#include "src/ir/graph.h"

namespace heddle::dsl {

/// Appends the nodes and their values to `graph`, which holds dims, masks, inputs and weights already; sorted so that
/// producers come first, otherwise as listed.
void read_nodes(const JsonView& nodes, const Dims& dims, int64_t max_tensor_bytes, ir::Graph& graph);

/// Names of all values so far, for suggestions.
std::vector<std::string> value_names(const ir::Graph& graph);
/// Index of a value by name, or -1.
int find_value(const ir::Graph& graph, const std::string& name);
/// Fails when the elements of a tensor pass 2^63 - 1 or its bytes `max_bytes`.
void check_size(const JsonView& view, const std::string& name, const ir::TensorType& type, int64_t max_bytes);

}  // namespace heddle::dsl
