#include "src/analysis/row_sweep.h"

#include <memory>
#include <optional>

#include "src/analysis/bit_rows.h"
#include "src/analysis/column_cover.h"
#include "src/analysis/nest_rows.h"
#include "src/analysis/parallel.h"
#include "src/analysis/row_totals.h"
#include "src/analysis/runs.h"

namespace heddle::analysis {
namespace {

constexpr int64_t kUnitRows = 4096;

/// What one thread accumulates.
class Worker {
 public:
  Worker(const SweepInput& input, const CountRequest& request, const std::map<TileShape, TileSweep::Scope>& scopes)
      : source_(input.source(input.meter)), tally_(input.meter), runs_wanted_(request.runs), pieces_(request.pieces) {
    if (request.columns) columns_.emplace(input.lengths.sk);
    for (const TileShape& shape : request.tiles) {
      const auto scope = scopes.find(shape);
      tiles_.emplace_back(shape, input.lengths, scope == scopes.end() ? TileSweep::Scope::All : scope->second);
    }
  }

  void run(int64_t begin, int64_t end) {
    each_row(*source_, begin, end, batch_, [this](int64_t row, const Strip* strips, int n) { add(row, strips, n); });
    tally_.flush();
  }

  void merge_into(RowTotals& totals, std::optional<ColumnCover>& columns, MaskCounts& counts) const {
    totals.merge(totals_);
    for (const TileSweep& tiles : tiles_) merge(counts.tiles[tiles.shape()], tiles.counts());
    if (columns_ && columns) columns->merge(*columns_);
  }

 private:
  void add(int64_t row, const Strip* strips, int n) {
    int64_t keys = 0;
    for (int i = 0; i < n; ++i) keys += strips[i].size();
    totals_.add(keys, runs_wanted_ ? runs_.contiguous(strips, n) : 0);
    if (pieces_) totals_.add_pieces(runs_.pieces(strips, n));
    if (columns_) columns_->add(strips, n);
    for (TileSweep& tiles : tiles_) tiles.add(row, strips, n), tally_.add(tiles.take_work());
    tally_.add(runs_.take_work());
  }

  std::unique_ptr<RowSource> source_;
  RowBatch batch_;
  WorkTally tally_;
  bool runs_wanted_, pieces_;
  RowTotals totals_;
  RunCounter runs_;
  std::optional<ColumnCover> columns_;
  std::vector<TileSweep> tiles_;
};

SampleRow sample(int64_t row, const Strip* strips, int n) {
  SampleRow result{row};
  for (int i = 0; i < n; ++i) {
    result.count += strips[i].size();
    result.last = std::max(result.last, strips[i].last());
  }
  if (n > 0) result.first = strips[0].first;
  return result;
}

uint64_t checksum(RowSource& source, Lengths lengths) {
  RowBatch batch;
  Fnv1a64 hash;
  std::vector<uint64_t> words(words_for(lengths.sk));
  each_row(source, 0, lengths.sq, batch, [&](int64_t, const Strip* strips, int n) {
    std::fill(words.begin(), words.end(), 0);
    for (int i = 0; i < n; ++i) set_bits(strips[i], words.data());
    hash.add(words.data(), bytes_for(lengths.sk));
  });
  return hash.value();
}

}  // namespace

MaskCounts sweep_rows(const SweepInput& input, const CountRequest& request, const std::map<TileShape, TileSweep::Scope>& scopes) {
  const int64_t rows = input.lengths.sq, unit = unit_rows(request, input.lengths, kUnitRows);
  std::vector<std::unique_ptr<Worker>> workers(std::max(request.threads, 1));
  parallel_units(request.threads, (rows + unit - 1) / unit, [&](int thread, int64_t at) {
    if (!workers[thread]) workers[thread] = std::make_unique<Worker>(input, request, scopes);
    workers[thread]->run(at * unit, std::min(rows, (at + 1) * unit));
  });
  MaskCounts counts;
  RowTotals totals;
  std::optional<ColumnCover> columns;
  if (request.columns) columns.emplace(input.lengths.sk);
  for (const TileShape& shape : request.tiles) counts.tiles[shape];
  for (const auto& worker : workers) {
    if (worker) worker->merge_into(totals, columns, counts);
  }
  totals.store(request, counts);
  if (columns) counts.empty_cols = columns->empty();
  const std::unique_ptr<RowSource> source = input.source(input.meter);
  RowBatch batch;
  for (int64_t row : sampled_rows(rows)) {
    each_row(*source, row, row + 1, batch, [&](int64_t at, const Strip* strips, int n) { counts.sample_rows.push_back(sample(at, strips, n)); });
  }
  if (request.checksum) counts.fnv1a64 = checksum(*source, input.lengths);
  return counts;
}

namespace {

constexpr int kProbedBlocks = 16, kProbedRowBlocks = 4;
constexpr int64_t kMostProbed = int64_t{1} << 24;  ///< Steps of a probe.

std::map<std::string, int64_t> tile_names(const TileRelation& relation, Lengths lengths, std::map<std::string, int64_t> names) {
  names["NK"] = (lengths.sk + relation.shape.cols - 1) / relation.shape.cols;
  names["NF"] = lengths.sk / relation.shape.cols;
  return names;
}

/// Counts the whole tiles of some row blocks. One object a thread.
class BlockTiles {
 public:
  BlockTiles(const TileRelation& relation, const std::map<std::string, int64_t>& values, WorkMeter& meter)
      : partial_(relation.partial, "qb", values, meter), full_(relation.full, "qb", values, meter) {}

  void add(int64_t block, int n, int64_t whole, int64_t area) {
    partial_.read(block, n, partials_);
    full_.read(block, n, fulls_);
    for (int i = 0; i < n; ++i) {
      add_whole_tiles({partials_.row(i), partials_.size(i)}, {fulls_.row(i), fulls_.size(i)}, whole, area, counts_);
    }
  }
  const TileCounts& counts() const { return counts_; }

 private:
  NestRows partial_, full_;
  RowBatch partials_, fulls_;
  TileCounts counts_;
};

}  // namespace

int64_t steps_of_whole_tiles(const TileRelation& relation, Lengths lengths, const std::map<std::string, int64_t>& ints) {
  const int64_t row_blocks = lengths.sq / relation.shape.rows;
  if (row_blocks <= 2 * kProbedBlocks) return 0;
  WorkMeter meter(kMostProbed);
  try {
    BlockTiles(relation, tile_names(relation, lengths, ints), meter).add(row_blocks / 2, kProbedBlocks, lengths.sk / relation.shape.cols, 1);
  } catch (const OverWork&) {
    return WorkMeter::kNoLimit;
  }
  return meter.done() * (row_blocks / kProbedBlocks);
}

int64_t steps_of_rows(const SweepInput& input, TileShape shape) {
  const int64_t row_blocks = input.lengths.sq / shape.rows, first = row_blocks / 2 * shape.rows;
  if (row_blocks <= 2 * kProbedBlocks) return 0;
  WorkMeter meter(kMostProbed), tile_meter(kMostProbed);
  const std::unique_ptr<RowSource> source = input.source(meter);
  TileSweep tiles(shape, input.lengths, TileSweep::Scope::All);
  RowBatch batch;
  try {
    each_row(*source, first, first + kProbedRowBlocks * shape.rows, batch, [&](int64_t row, const Strip* strips, int n) {
      tiles.add(row, strips, n);
      tile_meter.add(tiles.take_work());
    });
  } catch (const OverWork&) {
    return WorkMeter::kNoLimit;
  }
  return tile_meter.done() * (row_blocks / kProbedRowBlocks);
}

TileCounts count_whole_tiles(const TileRelation& relation, Lengths lengths, const std::map<std::string, int64_t>& ints, int threads, WorkMeter& meter) {
  const TileShape shape = relation.shape;
  const int64_t row_blocks = lengths.sq / shape.rows, whole = lengths.sk / shape.cols;
  const std::map<std::string, int64_t> values = tile_names(relation, lengths, ints);
  std::vector<std::unique_ptr<BlockTiles>> workers(std::max(threads, 1));
  constexpr int64_t kBatch = RowSource::kMostRows;
  parallel_units(threads, (row_blocks + kBatch - 1) / kBatch, [&](int thread, int64_t unit) {
    if (!workers[thread]) workers[thread] = std::make_unique<BlockTiles>(relation, values, meter);
    const int64_t block = unit * kBatch;
    workers[thread]->add(block, static_cast<int>(std::min(kBatch, row_blocks - block)), whole, shape.rows * shape.cols);
  });
  TileCounts counts;
  for (const auto& worker : workers) {
    if (worker) merge(counts, worker->counts());
  }
  return counts;
}

}  // namespace heddle::analysis
