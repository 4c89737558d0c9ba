// Attributes of spec nodes: each op's table row says which there are and of what kind.
#pragma once
#include "dsl/dims.h"
#include "dsl/json_reader.h"
#include "src/ir/graph.h"

namespace heddle::dsl {

/// Reads "attrs" of the node at `view` into node.attributes, node.mask and node.score. `masks` are those of the spec.
void read_attributes(const JsonView& view, const Dims& dims, const std::vector<ir::NamedMask>& masks, ir::Node& node);

/// float32, int32 or int64 in either spelling.
DType read_dtype(const JsonView& view);

}  // namespace heddle::dsl
