// Matrices made from formulas, and what must hold of the facts found in any matrix.
#pragma once
#include <string>
#include <vector>
#include "src/analysis/matrix_facts.h"
#include "src/ir/evaluate.h"

namespace heddle::analysis::test {

/// A matrix of bytes with rows that may lie apart.
struct ByteMatrix {
  int64_t sq = 0, sk = 0, stride = 0;
  std::vector<uint8_t> bytes;
  MatrixView view() const { return {bytes.data(), sq, sk, stride}; }
  bool at(int64_t q, int64_t k) const { return bytes[static_cast<size_t>(q * stride + k)] != 0; }
};

ByteMatrix matrix_of(const ir::Expr& mask, Lengths lengths, const std::map<std::string, int64_t>& ints = {}, const ir::Tables& tables = {});

/// What is wrong, or an empty text: counts against a plain count pair by pair, components exact and disjoint, lattice and period hold,
/// and the formula gives the matrix.
std::string check_matrix(const ByteMatrix& matrix, const MatrixFacts& facts);

}  // namespace heddle::analysis::test
