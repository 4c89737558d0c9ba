#include "src/analysis/enumerate.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "src/analysis/bit_rows.h"
#include "src/analysis/parallel.h"
#include "src/analysis/row_totals.h"
#include "src/analysis/runs.h"

namespace heddle::analysis {
namespace {

constexpr int64_t kBlockRows = 16;       ///< Rows whose bits are made together, so that k-only parts are shared.
constexpr int64_t kUnitRows = 256;       ///< Least rows of a unit of work; a thread holds their bits when they are hashed in order.

/// Tile classes of one shape from bit rows in ascending order.
class BitTiles {
 public:
  BitTiles(TileShape shape, Lengths lengths)
      : shape_(shape), lengths_(lengths), pairs_((lengths.sk + shape.cols - 1) / shape.cols) {}

  void add(int64_t row, const uint64_t* words) {
    for (size_t tile = 0; tile < pairs_.size(); ++tile) {
      const int64_t from = static_cast<int64_t>(tile) * shape_.cols;
      pairs_[tile] += count_bits(words, from, std::min(from + shape_.cols, lengths_.sk));
    }
    if ((row + 1) % shape_.rows == 0 || row + 1 == lengths_.sq) finish(row % shape_.rows + 1);
  }
  const TileShape& shape() const { return shape_; }
  const TileCounts& counts() const { return counts_; }

 private:
  void finish(int64_t rows) {
    for (size_t tile = 0; tile < pairs_.size(); ++tile) {
      const int64_t cols = std::min(shape_.cols, lengths_.sk - static_cast<int64_t>(tile) * shape_.cols);
      counts_.add(pairs_[tile], rows * cols, 1);
    }
    std::fill(pairs_.begin(), pairs_.end(), 0);
  }

  TileShape shape_;
  Lengths lengths_;
  std::vector<int64_t> pairs_;  ///< Of the current row block, by key tile.
  TileCounts counts_;
};

/// What one thread accumulates.
class Worker {
 public:
  Worker(const ir::Expr& mask, Lengths lengths, const CountRequest& request, const MaskInputs& inputs)
      : program_(mask, inputs), lengths_(lengths), pieces_(request.pieces), words_(words_for(lengths.sk)) {
    if (request.columns) columns_.resize(words_);
    for (const TileShape& shape : request.tiles) tiles_.emplace_back(shape, lengths);
  }

  /// Counts rows [begin, end). `keep`: their bits stay for hash() until the next run.
  void run(int64_t begin, int64_t end, bool keep) {
    bits_.resize((keep ? end - begin : kBlockRows) * words_);
    for (int64_t at = begin; at < end; at += kBlockRows) {
      const int64_t rows = std::min(kBlockRows, end - at);
      uint64_t* const block = bits_.data() + (keep ? at - begin : 0) * words_;
      program_.fill(at, rows, 0, lengths_.sk, block, words_);
      for (int64_t row = 0; row < rows; ++row) add(at + row, block + row * words_);
    }
  }

  void hash(int64_t rows, Fnv1a64& hash) const {
    for (int64_t row = 0; row < rows; ++row) hash.add(bits_.data() + row * words_, bytes_for(lengths_.sk));
  }

  void merge_into(RowTotals& totals, std::vector<uint64_t>& columns, MaskCounts& counts) const {
    totals.merge(totals_);
    for (const BitTiles& tiles : tiles_) merge(counts.tiles[tiles.shape()], tiles.counts());
    for (size_t i = 0; i < columns_.size(); ++i) columns[i] |= columns_[i];
  }

 private:
  void add(int64_t row, const uint64_t* words) {
    totals_.add(count_bits(words, 0, lengths_.sk), count_runs(words, words_));
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i] |= words[i];
    for (BitTiles& tiles : tiles_) tiles.add(row, words);
    if (!pieces_) return;
    PieceScanner scanner;
    each_bit(words, words_, [&](int64_t column) { scanner.take(column, 1, 1); });
    totals_.add_pieces(scanner.pieces());
  }

  PairProgram program_;
  Lengths lengths_;
  bool pieces_;
  int64_t words_;
  RowTotals totals_;
  std::vector<uint64_t> columns_, bits_;
  std::vector<BitTiles> tiles_;
};

SampleRow sample(const ir::Expr& mask, Lengths lengths, int64_t row, const MaskInputs& inputs) {
  const std::vector<uint64_t> bits = mask_bits(mask, lengths, row, 1, inputs);
  SampleRow result{row};
  each_bit(bits.data(), static_cast<int64_t>(bits.size()), [&](int64_t column) {
    if (result.count++ == 0) result.first = column;
    result.last = column;
  });
  return result;
}

using Workers = std::vector<std::unique_ptr<Worker>>;

/// Runs all rows; with a checksum in rounds of one unit a thread, hashed in order after each.
void run_all(Workers& workers, const std::function<std::unique_ptr<Worker>()>& make, Lengths lengths, const CountRequest& request,
             Fnv1a64& hash) {
  const int64_t unit = unit_rows(request, lengths, kUnitRows), units = (lengths.sq + unit - 1) / unit;
  const auto threads = static_cast<int64_t>(workers.size());
  const auto rows_of = [&](int64_t at) { return std::min(unit, lengths.sq - at * unit); };
  const int64_t per_round = request.checksum ? threads : units;
  for (int64_t round = 0; round < units; round += per_round) {
    const int64_t here = std::min(per_round, units - round);
    parallel_units(request.threads, here, [&](int thread, int64_t at) {
      if (!workers[thread]) workers[thread] = make();
      const int64_t begin = (round + at) * unit;
      workers[thread]->run(begin, begin + rows_of(round + at), request.checksum);
    });
    for (int64_t at = 0; at < here && request.checksum; ++at) workers[at]->hash(rows_of(round + at), hash);
  }
}

}  // namespace

MaskCounts enumerate(const ir::Expr& mask, Lengths lengths, const CountRequest& request, const MaskInputs& inputs) {
  Workers workers(std::max(request.threads, 1));
  Fnv1a64 hash;
  run_all(workers, [&] { return std::make_unique<Worker>(mask, lengths, request, inputs); }, lengths, request, hash);
  MaskCounts counts;
  RowTotals totals;
  const int64_t words = words_for(lengths.sk);
  std::vector<uint64_t> columns(words);
  for (const TileShape& shape : request.tiles) counts.tiles[shape];
  for (const auto& worker : workers) {
    if (worker) worker->merge_into(totals, columns, counts);
  }
  totals.store(request, counts);
  if (request.columns) counts.empty_cols = lengths.sk - count_bits(columns.data(), 0, lengths.sk);
  if (request.checksum) counts.fnv1a64 = hash.value();
  for (int64_t row : sampled_rows(lengths.sq)) counts.sample_rows.push_back(sample(mask, lengths, row, inputs));
  return counts;
}

std::vector<uint64_t> mask_bits(const ir::Expr& mask, Lengths lengths, int64_t first, int64_t rows, const MaskInputs& inputs) {
  const int64_t words = words_for(lengths.sk);
  std::vector<uint64_t> bits(rows * words);
  PairProgram program(mask, inputs);
  for (int64_t at = 0; at < rows; at += kBlockRows) {
    program.fill(first + at, std::min(kBlockRows, rows - at), 0, lengths.sk, bits.data() + at * words, words);
  }
  return bits;
}

}  // namespace heddle::analysis
