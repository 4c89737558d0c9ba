#include "src/analysis/cells.h"

#include <algorithm>
#include <memory>

#include "heddle/error.h"
#include "src/analysis/bit_rows.h"
#include "src/analysis/cell_sweep.h"
#include "src/analysis/enumerate.h"
#include "src/analysis/nest_rows.h"
#include "src/analysis/parallel.h"

namespace heddle::analysis {
namespace {

using Ints = std::map<std::string, int64_t>;

constexpr int64_t kMaxBits = int64_t{1} << 28;  ///< Of enumerated rows held at once.

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Counts the rows of the facts' nest, a row of cells at a time. One object a thread.
class NestCells {
 public:
  NestCells(const ir::LoopNest& rows, const Ints& ints, const CellGrid& grid)
      : source_(rows, "q", ints), sweep_(grid.cell.cols, grid.cols) {}

  void count(int64_t begin, int64_t end, int64_t* totals) {
    for (int64_t at = begin; at < end; at += batch_.rows()) {
      source_.read(at, static_cast<int>(std::min<int64_t>(NestRows::batch(), end - at)), batch_);
      for (const Strip& strip : batch_.strips) sweep_.add(strip);
    }
    sweep_.finish(totals);
  }

 private:
  NestRows source_;
  RowBatch batch_;
  CellSweep sweep_;
};

void add_bits(const uint64_t* words, int64_t sk, const CellGrid& grid, int64_t* totals) {
  for (int64_t cell = 0; cell < grid.cols; ++cell) {
    const int64_t from = cell * grid.cell.cols;
    totals[cell] += count_bits(words, from, std::min(sk, from + grid.cell.cols));
  }
}

void count_bits_of_rows(const ir::Expr& mask, Lengths lengths, const MaskInputs& inputs, const CellGrid& grid, int64_t begin, int64_t end,
                        int64_t* totals) {
  const int64_t step = std::clamp<int64_t>(kMaxBits / std::max<int64_t>(lengths.sk, 1), 1, NestRows::batch());
  const int64_t words = words_for(lengths.sk);
  for (int64_t at = begin; at < end; at += step) {
    const int64_t rows = std::min(step, end - at);
    const std::vector<uint64_t> bits = mask_bits(mask, lengths, at, rows, inputs);
    for (int64_t row = 0; row < rows; ++row) add_bits(bits.data() + row * words, lengths.sk, grid, totals);
  }
}

}  // namespace

void check_countable(const MaskFacts& facts, Lengths lengths) {
  if (facts.proof() != Proof::Enumerated) return;
  if (lengths.sq == 0 || lengths.sk <= kMaxEnumeratedPairs / lengths.sq) return;
  throw UserError("the mask has no closed form, and " + std::to_string(lengths.sq) + " x " + std::to_string(lengths.sk) +
                      " pairs are too many to evaluate one by one (at most " + std::to_string(kMaxEnumeratedPairs) + ")",
                  "use smaller lengths, or write the mask with sums, comparisons and / and % by constants");
}

CellGrid count_cells(const MaskFacts& facts, Lengths lengths, TileShape cell, int threads, const Ints& ints, const ir::Tables& tables) {
  CellGrid grid{cell, ceil_div(lengths.sq, cell.rows), ceil_div(lengths.sk, cell.cols), {}};
  grid.allowed.resize(grid.rows * grid.cols);
  if (grid.allowed.empty()) return grid;
  MaskInputs inputs{ints, tables};
  inputs.ints["Sq"] = lengths.sq;
  inputs.ints["Sk"] = lengths.sk;
  const ir::LoopNest* const rows = facts.proof() == Proof::Enumerated ? nullptr : &facts.rows();
  std::vector<std::unique_ptr<NestCells>> workers(std::max(threads, 1));
  parallel_units(threads, grid.rows, [&](int thread, int64_t at) {
    const int64_t begin = at * cell.rows, end = std::min(lengths.sq, begin + cell.rows);
    int64_t* const totals = grid.allowed.data() + at * grid.cols;
    if (!rows) return count_bits_of_rows(facts.mask(), lengths, inputs, grid, begin, end, totals);
    if (!workers[thread]) workers[thread] = std::make_unique<NestCells>(*rows, inputs.ints, grid);
    workers[thread]->count(begin, end, totals);
  });
  return grid;
}

}  // namespace heddle::analysis
