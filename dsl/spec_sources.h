// The parts of a spec that say where elements come from: "fill", "values", "text" of inputs and "init" of weights.
#pragma once
#include "dsl/files.h"
#include "dsl/json_reader.h"
#include "src/ir/graph.h"

namespace heddle::dsl {

/// `position` is the input's place among all inputs: it seeds the generator. Without any key the source is the default fill
/// for float32 and None for integers.
ir::Source read_input_source(const JsonView& input, const ir::TensorType& type, int position, const FileAccess& access);
ir::Source read_weight_source(const JsonView& weight, const ir::TensorType& type);

}  // namespace heddle::dsl
