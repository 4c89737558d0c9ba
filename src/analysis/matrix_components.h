// Affine components, row period and lattice of a bit matrix, from the pieces of its rows.
#pragma once
#include <optional>
#include <vector>
#include "src/analysis/matrix_rows.h"

namespace heddle::analysis {

/// Pieces of neighbouring rows joined as long as first and count move by constant steps. Disjoint, and every piece is in one; nullopt when
/// there are more than `most`. Components have no repeats.
std::optional<std::vector<MatrixComponent>> matrix_components(const MatrixRows& rows, int64_t most);

/// Components that are one component moved by (period.rows, period.keys) again and again become one with repeats.
std::vector<MatrixComponent> fold_repeats(const std::vector<MatrixComponent>& components, RowPeriod period);

/// The least period of rows whose keys stay, or move by as many as rows; at most half the rows. Work is bounded.
std::optional<RowPeriod> row_period(const BitMatrix& matrix);

MatrixLattice matrix_lattice(const MatrixRows& rows);

}  // namespace heddle::analysis
