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

/// Calls visit(row, strips, n) for rows [begin, end).
template <typename Visit>
void each_row(NestRows& source, int64_t begin, int64_t end, const Visit& visit) {
  RowBatch batch;
  for (int64_t at = begin; at < end; at += batch.rows()) {
    source.read(at, static_cast<int>(std::min<int64_t>(NestRows::batch(), end - at)), batch);
    for (int i = 0; i < batch.rows(); ++i) visit(at + i, batch.row(i), batch.size(i));
  }
}

/// What one thread accumulates.
class Worker {
 public:
  Worker(const SweepInput& input, const CountRequest& request, const std::map<TileShape, TileSweep::Scope>& scopes)
      : source_(*input.rows, "q", input.ints), pieces_(request.pieces) {
    if (request.columns) columns_.emplace(input.lengths.sk);
    for (const TileShape& shape : request.tiles) {
      const auto scope = scopes.find(shape);
      tiles_.emplace_back(shape, input.lengths, scope == scopes.end() ? TileSweep::Scope::All : scope->second);
    }
  }

  void run(int64_t begin, int64_t end) {
    each_row(source_, begin, end, [this](int64_t row, const Strip* strips, int n) { add(row, strips, n); });
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
    totals_.add(keys, runs_.contiguous(strips, n));
    if (pieces_) totals_.add_pieces(runs_.pieces(strips, n));
    if (columns_) columns_->add(strips, n);
    for (TileSweep& tiles : tiles_) tiles.add(row, strips, n);
  }

  NestRows source_;
  bool pieces_;
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

uint64_t checksum(NestRows& source, Lengths lengths) {
  Fnv1a64 hash;
  std::vector<uint64_t> words(words_for(lengths.sk));
  each_row(source, 0, lengths.sq, [&](int64_t, const Strip* strips, int n) {
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
  NestRows source(*input.rows, "q", input.ints);
  for (int64_t row : sampled_rows(rows)) {
    each_row(source, row, row + 1, [&](int64_t at, const Strip* strips, int n) { counts.sample_rows.push_back(sample(at, strips, n)); });
  }
  if (request.checksum) counts.fnv1a64 = checksum(source, input.lengths);
  return counts;
}

TileCounts count_whole_tiles(const TileRelation& relation, Lengths lengths, const std::map<std::string, int64_t>& ints) {
  const TileShape shape = relation.shape;
  const int64_t row_blocks = lengths.sq / shape.rows, whole = lengths.sk / shape.cols;
  std::map<std::string, int64_t> values = ints;
  values["NK"] = (lengths.sk + shape.cols - 1) / shape.cols;
  values["NF"] = whole;
  NestRows partial(relation.partial, "qb", values), full(relation.full, "qb", values);
  RowBatch partials, fulls;
  TileCounts counts;
  for (int64_t block = 0; block < row_blocks; block += NestRows::batch()) {
    const int n = static_cast<int>(std::min<int64_t>(NestRows::batch(), row_blocks - block));
    partial.read(block, n, partials);
    full.read(block, n, fulls);
    for (int i = 0; i < n; ++i) {
      add_whole_tiles(partials.row(i), partials.size(i), fulls.row(i), fulls.size(i), whole, counts);
    }
  }
  return counts;
}

}  // namespace heddle::analysis
