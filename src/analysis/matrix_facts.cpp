#include "src/analysis/matrix_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/error.h"
#include "src/analysis/matrix_components.h"
#include "src/analysis/matrix_formula.h"
#include "src/support/timer.h"

namespace heddle::analysis {
namespace {

constexpr int64_t kMostRowPieces = 1024;

void check(const MatrixView& view) {
  const auto good = [](int64_t side) { return side >= 0 && side <= kMaxMatrixSide; };
  if (!good(view.sq) || !good(view.sk)) {
    throw UserError(fmt::format("a matrix of {} x {}: expected 0 to {} rows and columns", view.sq, view.sk, kMaxMatrixSide));
  }
  if (view.data == nullptr && view.sq > 0 && view.sk > 0) throw UserError("a matrix without data");
}

void add_totals(const RowTotals& totals, MatrixFacts& facts) {
  facts.nnz = totals.nnz, facts.empty_rows = totals.empty_rows, facts.row_nnz_max = totals.row_nnz_max;
  facts.row_runs_total = totals.pieces_total, facts.row_runs_max = totals.pieces_max, facts.affine_rows = totals.affine_rows;
}

void add_components(const BitMatrix& matrix, const MatrixOptions& options, MatrixFacts& facts) {
  const MatrixRows rows = matrix_rows(matrix, kMostRowPieces, options.threads);
  add_totals(rows.totals, facts);
  facts.period = row_period(matrix);
  facts.lattice = matrix_lattice(rows);
  auto found = rows.complete ? matrix_components(rows, 1 << 18) : std::nullopt;
  if (found && facts.period) found = fold_repeats(*found, *facts.period);
  facts.irregular = !found || static_cast<int64_t>(found->size()) > options.most_components;
  if (!facts.irregular) facts.components = std::move(*found);
}

ir::Expr suggest(const BitMatrix& matrix, const MatrixOptions& options, const MatrixFacts& facts) {
  if (ir::Expr short_one = matrix_formula(matrix, options.threads)) return short_one;
  const bool few = !facts.irregular && static_cast<int64_t>(facts.components.size()) <= options.most_terms;
  return few ? components_formula(facts.components, facts.lengths) : nullptr;
}

}  // namespace

MatrixFacts matrix_facts(const MatrixView& view, const MatrixOptions& options) {
  check(view);
  MatrixFacts facts;
  facts.lengths = {view.sq, view.sk};
  const support::Timer whole, packing;
  const BitMatrix matrix = pack(view, options.threads);
  facts.pack_milliseconds = packing.milliseconds();
  const support::Timer rows;
  add_components(matrix, options, facts);
  for (const TileShape& shape : options.tiles) facts.tiles[shape] = matrix_tiles(matrix, shape, options.threads);
  facts.rows_milliseconds = rows.milliseconds();
  const support::Timer formula;
  facts.formula = suggest(matrix, options, facts);
  facts.formula_milliseconds = formula.milliseconds();
  facts.milliseconds = whole.milliseconds();
  return facts;
}

}  // namespace heddle::analysis
