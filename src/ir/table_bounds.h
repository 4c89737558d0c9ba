// Tables at the door of a kernel: are they what the formulas declare, and do the formulas stay inside them?
#pragma once
#include <map>
#include <string>
#include "heddle/kernel_abi.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"

namespace heddle::ir {

/// Throws UserError, naming the table, unless
///  - `tables` are exactly the ones that mask and score (either may be null) read, each of the declared dtype and rank, with a stride for
///    every dimension and memory for its elements;
///  - a dimension that is indexed by one of b, h, q, k alone has that position's size, or extent 1 (broadcast). Where it is indexed
///    otherwise too, it has at least that size; a guard that keeps the position to a part of its range makes a use "otherwise";
///  - no other index certainly leaves the table: at every pair, or at some pair where all of its guards hold (guarded_reads.h).
/// What cannot be decided passes: reads are clamped. `ranges`: of b, h, q, k, sizes and Int parameters at the lengths of the launch; where
/// one is empty nothing is read, and no shape or index is wrong.
void check_tables(const Expr& mask, const Expr& score, const Tables& tables, const std::map<std::string, Interval>& ranges);

/// A checked table as kernels read it: stride 0 along dimensions of extent 1; a table without elements becomes a single zero.
TableArg table_argument(const Tensor& table);

}  // namespace heddle::ir
