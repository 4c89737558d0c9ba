// Exact counts by evaluating the formula at every pair: bit rows, many keys at a time, threaded over rows.
//
// Parts of the formula that depend on q only are evaluated once a row and key batch, parts that depend on k only once for sixteen
// rows. Memory: sixteen rows of bits a thread, with a checksum the rows of a unit of work (row_totals.h), never the matrix.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>
#include "src/analysis/counts.h"

namespace heddle::analysis {

/// All fields that the request names, except proof and milliseconds. `ints` gives every name of the mask but q and k.
MaskCounts enumerate(const ir::Expr& mask, Lengths lengths, const CountRequest& request, const std::map<std::string, int64_t>& ints);

/// Row-major bits of rows [first, first + rows), words_for(sk) words a row.
std::vector<uint64_t> mask_bits(const ir::Expr& mask, Lengths lengths, int64_t first, int64_t rows,
                                const std::map<std::string, int64_t>& ints);

}  // namespace heddle::analysis
