// Sums across the lanes of vectors, by shuffles: how products with dims in lanes become scores with keys in lanes.
#pragma once
#include "src/codegen/llvm/ir_builder.h"

namespace heddle::codegen {

/// Lane 4 i + j of the result is the sum of the 128-bit group i of v[j]; four vectors.
Value* sum_quads(IrBuilder& b, const Values& v);

/// 128-bit group g of the result is the sum of all groups of v[g]; lanes / 4 vectors.
Value* sum_groups(IrBuilder& b, const Values& v);

/// The sum of all lanes, f32.
Value* sum_lanes(IrBuilder& b, Value* vector);
/// The largest lane, f32; NaN never wins.
Value* largest_lane(IrBuilder& b, Value* vector);

}  // namespace heddle::codegen
