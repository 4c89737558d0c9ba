// A formula for a bit matrix: short ones made of full rows, columns, diagonals and block diagonals, else a disjunction of components.
#pragma once
#include <vector>
#include "src/analysis/matrix_bits.h"

namespace heddle::analysis {

/// An Expr over q and k that gives exactly the matrix, or null.
ir::Expr matrix_formula(const BitMatrix& matrix, int threads);

/// The disjunction of components, `q >= q0 && q < q1 && k >= lo(q) && k <= hi(q) && (k - lo(q)) % stride == 0`, bounds that every pair
/// of the matrix meets left out.
ir::Expr components_formula(const std::vector<MatrixComponent>& components, Lengths lengths);

}  // namespace heddle::analysis
