// The judge of attention: the whole of it in float64, straight from the formulas, pair by pair.
//
// It knows no facts, plans, tiles or running softmax: rows are computed one by one from the definition in two passes (maximum, then
// exponentials). Pairs that the mask forbids are neither scored nor multiplied, so what their K and V rows hold never matters.
#pragma once
#include "heddle/kernel_abi.h"
#include "src/codegen/reference/attention_result.h"
#include "src/ir/attention_problem.h"

namespace heddle::reference {

/// O, not rounded, and LSE of the problem for inputs q, k, v of `args`, of the problem's dtype (strides, lengths, scale; parameters and tables in the
/// orders of ir::parameter_order and ir::table_order); o and lse of `args` are not touched. Rows without an allowed key, and rows whose allowed scores are all
/// -inf, give O = 0 and LSE = -inf. Results do not depend on `threads`.
/// Cost: Sq * Sk mask evaluations (times batch * heads when the mask mentions b or h) and 2 * (D + Dv) flops an allowed pair.
AttentionResult judge(const ir::AttentionProblem& problem, const AttentionArgs& args, int threads = 1);

}  // namespace heddle::reference
