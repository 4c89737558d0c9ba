#include "test/analysis/matrix_check.h"
#include <fmt/format.h>
#include "src/ir/rewrite.h"

namespace heddle::analysis::test {
namespace {

struct RowCount {
  int64_t keys = 0, pieces = 0;
};

/// Greedy pieces by their definition.
RowCount count_row(const ByteMatrix& matrix, int64_t q) {
  std::vector<int64_t> keys;
  for (int64_t k = 0; k < matrix.sk; ++k) {
    if (matrix.at(q, k)) keys.push_back(k);
  }
  RowCount count{static_cast<int64_t>(keys.size())};
  for (size_t i = 0; i < keys.size(); ++count.pieces) {
    size_t end = i + 1;
    if (end < keys.size()) {
      for (++end; end < keys.size() && keys[end] - keys[end - 1] == keys[i + 1] - keys[i];) ++end;
    }
    i = end;
  }
  return count;
}

std::string check_counts(const ByteMatrix& matrix, const MatrixFacts& facts) {
  MatrixFacts plain;
  for (int64_t q = 0; q < matrix.sq; ++q) {
    const RowCount row = count_row(matrix, q);
    plain.nnz += row.keys, plain.empty_rows += row.keys == 0, plain.affine_rows += row.pieces == 1, plain.row_runs_total += row.pieces;
    plain.row_runs_max = std::max(plain.row_runs_max, row.pieces), plain.row_nnz_max = std::max(plain.row_nnz_max, row.keys);
  }
  const auto text = [](const MatrixFacts& f) {
    return fmt::format("nnz {} empty {} affine {} pieces {} most {} keys {}", f.nnz, f.empty_rows, f.affine_rows, f.row_runs_total, f.row_runs_max, f.row_nnz_max);
  };
  return text(plain) == text(facts) ? "" : text(facts) + "; expected " + text(plain);
}

std::string check_cover(const ByteMatrix& matrix, const MatrixFacts& facts) {
  if (facts.irregular) return facts.components.empty() ? "" : "irregular with components";
  std::vector<int> times(static_cast<size_t>(matrix.sq * matrix.sk), 0);
  for (const MatrixComponent& c : facts.components) {
    for (int64_t i = 0; i < c.repeats; ++i) {
      for (int64_t r = 0; r < c.height; ++r) {
        const int64_t q = c.q0 + i * c.period + r, first = c.first + i * c.shift + r * c.first_slope;
        for (int64_t n = 0; n < c.count + r * c.count_slope; ++n) {
          const int64_t k = first + n * c.stride;
          if (q < 0 || q >= matrix.sq || k < 0 || k >= matrix.sk) return fmt::format("({}, {}) lies outside", q, k);
          ++times[static_cast<size_t>(q * matrix.sk + k)];
        }
      }
    }
  }
  for (int64_t q = 0; q < matrix.sq; ++q) {
    for (int64_t k = 0; k < matrix.sk; ++k) {
      const int found = times[static_cast<size_t>(q * matrix.sk + k)];
      if (found != (matrix.at(q, k) ? 1 : 0)) return fmt::format("({}, {}) is in {} components", q, k, found);
    }
  }
  return "";
}

std::string check_structure(const ByteMatrix& matrix, const MatrixFacts& facts) {
  const MatrixLattice& lattice = facts.lattice;
  for (int64_t q = 0; q < matrix.sq; ++q) {
    int64_t before = -1;
    for (int64_t k = 0; k < matrix.sk; ++k) {
      if (facts.period && q + facts.period->rows < matrix.sq && k + facts.period->keys < matrix.sk &&
          matrix.at(q, k) != matrix.at(q + facts.period->rows, k + facts.period->keys)) {
        return fmt::format("the period fails at ({}, {})", q, k);
      }
      if (!matrix.at(q, k)) continue;
      if (before >= 0 && (k - before) % lattice.stride != 0) return fmt::format("({}, {}) is off the lattice", q, k);
      if (lattice.affine && ir::floor_mod(k - lattice.slope * q - lattice.base, lattice.stride) != 0) return fmt::format("({}, {}) is off the offset", q, k);
      before = k;
    }
  }
  return "";
}

TileCounts count_tiles(const ByteMatrix& matrix, TileShape shape) {
  TileCounts counts;
  for (int64_t q = 0; q < matrix.sq; q += shape.rows) {
    for (int64_t k = 0; k < matrix.sk; k += shape.cols) {
      int64_t set = 0, all = 0;
      for (int64_t i = q; i < std::min(q + shape.rows, matrix.sq); ++i) {
        for (int64_t j = k; j < std::min(k + shape.cols, matrix.sk); ++j) ++all, set += matrix.at(i, j);
      }
      ++(set == 0 ? counts.empty : set == all ? counts.full : counts.partial);
      if (set == all) counts.full_pairs += all;
      if (set > 0 && set < all) counts.partial_pairs += all;
    }
  }
  return counts;
}

std::string check_formula(const ByteMatrix& matrix, const MatrixFacts& facts) {
  if (!facts.formula) return "";
  const ByteMatrix given = matrix_of(facts.formula, facts.lengths);
  for (int64_t q = 0; q < matrix.sq; ++q) {
    for (int64_t k = 0; k < matrix.sk; ++k) {
      if (given.at(q, k) != matrix.at(q, k)) {
        return fmt::format("the formula {} fails at ({}, {})", ir::print(facts.formula), q, k);
      }
    }
  }
  return "";
}

}  // namespace

ByteMatrix matrix_of(const ir::Expr& mask, Lengths lengths, const std::map<std::string, int64_t>& ints, const ir::Tables& tables) {
  ByteMatrix matrix{lengths.sq, lengths.sk, lengths.sk, std::vector<uint8_t>(static_cast<size_t>(lengths.sq * lengths.sk))};
  std::vector<std::string> slots = {"q", "k", "Sq", "Sk"};
  std::vector<int64_t> values = {0, 0, lengths.sq, lengths.sk};
  for (const auto& [name, value] : ints) slots.push_back(name), values.push_back(value);
  const ir::CompiledExpr program(mask, slots, tables);
  for (int64_t& q = values[0]; q < lengths.sq; ++q) {
    for (values[1] = 0; values[1] < lengths.sk; ++values[1]) {
      matrix.bytes[static_cast<size_t>(q * lengths.sk + values[1])] = static_cast<uint8_t>(program.run_int(values.data()));
    }
  }
  return matrix;
}

std::string check_matrix(const ByteMatrix& matrix, const MatrixFacts& facts) {
  for (const auto check : {check_counts, check_cover, check_structure, check_formula}) {
    if (const std::string wrong = check(matrix, facts); !wrong.empty()) return wrong;
  }
  for (const auto& [shape, tiles] : facts.tiles) {
    if (!(tiles == count_tiles(matrix, shape))) return fmt::format("wrong {}x{} tiles", shape.rows, shape.cols);
  }
  return "";
}

}  // namespace heddle::analysis::test
