// Exact counts by evaluating the formula at every pair: bit rows, many keys at a time, threaded over rows.
//
// Parts of the formula that depend on q only are evaluated once a row and key batch, parts that depend on k only once for sixteen
// rows. Memory: sixteen rows of bits a thread, with a checksum the rows of a unit of work (row_totals.h), never the matrix.
#pragma once
#include <cstdint>
#include <vector>
#include "src/analysis/counts.h"
#include "src/analysis/pair_program.h"

namespace heddle::analysis {

/// All fields that the request names, except proof and milliseconds.
MaskCounts enumerate(const ir::Expr& mask, Lengths lengths, const CountRequest& request, const MaskInputs& inputs);

/// Row-major bits of rows [first, first + rows), words_for(sk) words a row.
std::vector<uint64_t> mask_bits(const ir::Expr& mask, Lengths lengths, int64_t first, int64_t rows, const MaskInputs& inputs);

}  // namespace heddle::analysis
