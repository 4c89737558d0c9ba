// Exact facts of a boolean matrix that a user gives instead of a formula: pieces, affine components, lattice, tiles, and a formula for it.
//
// Just-in-time detection after SPLAT (Gupta et al., 2024). One threaded pass packs the matrix to bits; all else works on words of 64 pairs.
// Nothing is sampled: components cover the allowed pairs exactly and disjointly, and a formula is suggested only when it gives the matrix
// bit by bit. Pieces are those of test/cases/README.md.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>
#include "heddle/matrix.h"
#include "src/analysis/counts.h"

namespace heddle::analysis {

/// A matrix of bytes in the caller's memory: 0 = masked, anything else = allowed. A pair is at data + q * row_stride + k * key_stride.
struct MatrixView {
  const uint8_t* data = nullptr;
  int64_t sq = 0, sk = 0, row_stride = 0, key_stride = 1;
};

using heddle::MatrixComponent;

/// row q + rows equals row q moved by `keys`, wherever both lie inside the matrix.
struct RowPeriod {
  int64_t rows = 0, keys = 0;
};

/// k ≡ o(q) (mod stride) for all allowed pairs; offset is o(q) = slope * q + base where it is affine. stride 1: no lattice.
struct MatrixLattice {
  int64_t stride = 1;
  bool affine = true;
  int64_t slope = 0, base = 0;
};

struct MatrixOptions {
  std::vector<TileShape> tiles = {{64, 64}};
  int threads = 2;
  int64_t most_components = 4096;  ///< More are not kept: the matrix is irregular.
  int most_terms = 24;             ///< Longest disjunction of components suggested as a formula.
};

struct MatrixFacts {
  Lengths lengths;
  int64_t nnz = 0, empty_rows = 0, row_nnz_max = 0;
  int64_t row_runs_total = 0, row_runs_max = 0, affine_rows = 0;
  std::map<TileShape, TileCounts> tiles;
  std::optional<RowPeriod> period;           ///< The shortest one with keys 0 or keys = rows.
  MatrixLattice lattice;
  std::vector<MatrixComponent> components;   ///< Empty when irregular.
  bool irregular = false;                    ///< More than most_components: no component was kept.
  ir::Expr formula;                          ///< Over q and k; gives the matrix exactly. Null when none was found.
  double pack_milliseconds = 0, rows_milliseconds = 0, formula_milliseconds = 0, milliseconds = 0;
};

/// Largest side of a matrix.
inline constexpr int64_t kMaxMatrixSide = int64_t{1} << 20;

/// Throws UserError for a side beyond kMaxMatrixSide, a negative side, or a null pointer to a matrix that is not empty.
MatrixFacts matrix_facts(const MatrixView& view, const MatrixOptions& options = {});

}  // namespace heddle::analysis
