#include "src/analysis/cells.h"

#include <algorithm>
#include <memory>

#include "src/analysis/bit_rows.h"
#include "src/analysis/cell_sweep.h"
#include "src/analysis/enumerate.h"
#include "src/analysis/parallel.h"
#include "src/analysis/row_sweep.h"

namespace heddle::analysis {
namespace {

using Ints = std::map<std::string, int64_t>;

constexpr int64_t kMaxBits = int64_t{1} << 28;  ///< Of enumerated rows held at once.

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Counts the strips of rows, a row of cells at a time. One object a thread.
class StripCells {
 public:
  StripCells(std::unique_ptr<RowSource> source, WorkMeter& meter, const CellGrid& grid)
      : source_(std::move(source)), tally_(meter), sweep_(grid.cell.cols, grid.cols) {}

  void count(int64_t begin, int64_t end, int64_t* totals) {
    each_row(*source_, begin, end, batch_, [this](int64_t, const Strip* strips, int n) {
      for (int i = 0; i < n; ++i) sweep_.add(strips[i]);
      tally_.add(sweep_.take_work());
    });
    sweep_.finish(totals);
    tally_.add(sweep_.take_work());
    tally_.flush();
  }

 private:
  std::unique_ptr<RowSource> source_;
  RowBatch batch_;
  WorkTally tally_;
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
  const int64_t step = std::clamp<int64_t>(kMaxBits / std::max<int64_t>(lengths.sk, 1), 1, RowSource::kMostRows);
  const int64_t words = words_for(lengths.sk);
  for (int64_t at = begin; at < end; at += step) {
    const int64_t rows = std::min(step, end - at);
    const std::vector<uint64_t> bits = mask_bits(mask, lengths, at, rows, inputs);
    for (int64_t row = 0; row < rows; ++row) add_bits(bits.data() + row * words, lengths.sk, grid, totals);
  }
}

/// None where every pair is to be evaluated.
MakeSource source_of(const MaskFacts& facts, const MaskInputs& inputs, const CountLimits& limits) {
  if (facts.proof() != Proof::Enumerated) return nest_source(facts, inputs.ints);
  return limits.known ? ranged_source(facts, inputs, *limits.known) : nullptr;
}

}  // namespace

CellGrid count_cells(const MaskFacts& facts, Lengths lengths, TileShape cell, int threads, const Ints& ints, const ir::Tables& tables,
                     const CountLimits& limits) {
  CellGrid grid{cell, ceil_div(lengths.sq, cell.rows), ceil_div(lengths.sk, cell.cols), {}};
  grid.allowed.resize(grid.rows * grid.cols);
  if (grid.allowed.empty()) return grid;
  MaskInputs inputs{ints, tables};
  inputs.ints["Sq"] = lengths.sq;
  inputs.ints["Sk"] = lengths.sk;
  const MakeSource source = source_of(facts, inputs, limits);
  if (!source && lengths.sk > limits.most_steps / kPairSteps / lengths.sq) throw OverWork{};
  WorkMeter meter(limits.most_steps);
  std::vector<std::unique_ptr<StripCells>> workers(std::max(threads, 1));
  parallel_units(threads, grid.rows, [&](int thread, int64_t at) {
    const int64_t begin = at * cell.rows, end = std::min(lengths.sq, begin + cell.rows);
    int64_t* const totals = grid.allowed.data() + at * grid.cols;
    if (!source) return count_bits_of_rows(facts.mask(), lengths, inputs, grid, begin, end, totals);
    if (!workers[thread]) workers[thread] = std::make_unique<StripCells>(source(meter), meter, grid);
    workers[thread]->count(begin, end, totals);
  });
  return grid;
}

}  // namespace heddle::analysis
