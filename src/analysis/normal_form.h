// Masks as disjunctions and conjunctions of plain comparisons, the form that the set builder and the digit splitter read.
//
// Negations are pushed into the comparisons, min, max, abs and ?: are distributed out of the arithmetic, so every comparison is
// `d op 0` with d made of +, -, *, floor division and modulo only. No piecewise function ever reaches isl.
#pragma once
#include "src/ir/expr.h"

namespace heddle::analysis {

/// Normal form of `mask`, or of its negation. Result: And, Or, BoolConst and comparisons of an Int with the constant 0.
/// Throws NotAffine for Real operands, OverBudget when the result passes a fixed number of nodes.
ir::Expr normal_form(const ir::Expr& mask, bool negated);

}  // namespace heddle::analysis
