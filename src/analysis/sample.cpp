#include "src/analysis/sample.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "src/analysis/parallel.h"

namespace heddle::analysis {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The least side of a square of at least n.
int64_t root(int64_t n) {
  auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (side * side < n) ++side;
  return side;
}

/// A number in [0, end) that looks random (splitmix64).
int64_t hashed(uint64_t seed, int64_t end) {
  uint64_t x = seed + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return static_cast<int64_t>((static_cast<unsigned __int128>(x) * static_cast<uint64_t>(end)) >> 64);
}

/// An even grid of strata over some positions: their first positions, and the end.
class Strata {
 public:
  Strata(int64_t first, int64_t n, int64_t most) {
    const int64_t count = std::min(n, most);
    for (int64_t i = 0; i <= count; ++i) begins_.push_back(first + static_cast<int64_t>(static_cast<__int128>(n) * i / count));
  }
  int64_t count() const { return static_cast<int64_t>(begins_.size()) - 1; }
  int64_t begin(int64_t i) const { return begins_[static_cast<size_t>(i)]; }
  int64_t size(int64_t i) const { return begin(i + 1) - begin(i); }
  /// A hashed place in stratum i.
  int64_t at(int64_t i, uint64_t seed) const { return begin(i) + hashed(seed, size(i)); }

 private:
  std::vector<int64_t> begins_;
};

Share share(int64_t found, int64_t points) {
  if (points == 0) return {0, 1};
  const auto n = static_cast<double>(points);
  const double p = static_cast<double>(found) / n;
  return {p, found == 0 || found == points ? std::min(1.0, 3 / n) : 2 * std::sqrt(p * (1 - p) / n)};
}

/// The predicate at any pairs, many at a time.
class Points {
 public:
  Points(const ir::Expr& mask, const MaskInputs& inputs) {
    q_ = program_.declare("q", BatchProgram::Slot::Lane);
    k_ = program_.declare("k", BatchProgram::Slot::Lane);
    program_.declare_fixed(inputs.ints);
    program_.declare_tables(inputs.tables);
    result_ = program_.add(mask);
    program_.run_fixed();
  }

  void put(int64_t q, int64_t k) {
    program_.lanes(q_)[filled_] = q;
    program_.lanes(k_)[filled_] = k;
    ++points_;
    if (++filled_ == BatchProgram::kLanes) flush();
  }

  struct Found {
    int64_t points, allowed;
  };
  /// What was put since the last call.
  Found take() {
    flush();
    return {std::exchange(points_, 0), std::exchange(allowed_, 0)};
  }

 private:
  void flush() {
    if (filled_ == 0) return;
    program_.run_lanes(filled_);
    for (int i = 0; i < filled_; ++i) allowed_ += program_.value(result_, i) != 0;
    filled_ = 0;
  }

  BatchProgram program_;
  int q_, k_, result_, filled_ = 0;
  int64_t points_ = 0, allowed_ = 0;
};

/// One point of each pair of strata.
void put_grid(const Strata& rows, const Strata& cols, uint64_t seed, Points& points) {
  for (int64_t i = 0; i < rows.count(); ++i) {
    for (int64_t j = 0; j < cols.count(); ++j) {
      const auto place = static_cast<uint64_t>(i * cols.count() + j);
      points.put(rows.at(i, seed + 2 * place), cols.at(j, seed + 2 * place + 1));
    }
  }
}

/// Numbers of points that split `most` between the sides of a rows x cols rectangle, not more than it has.
TileShape split(int64_t most, int64_t rows, int64_t cols) {
  const int64_t side = root(most);
  const int64_t down = std::min(rows, std::max(side, most / std::max<int64_t>(1, std::min(cols, most))));
  return {down, std::min(cols, std::max<int64_t>(1, most / down))};
}

/// Calls work(points, unit) for every unit, with the points of its thread.
template <typename Work>
void each_unit(const ir::Expr& mask, const MaskInputs& inputs, int threads, int64_t units, const Work& work) {
  std::vector<std::unique_ptr<Points>> points(static_cast<size_t>(std::max(threads, 1)));
  parallel_units(threads, units, [&](int thread, int64_t unit) {
    auto& mine = points[static_cast<size_t>(thread)];
    if (!mine) mine = std::make_unique<Points>(mask, inputs);
    work(*mine, unit);
  });
}

constexpr uint64_t kSeedOfUnits = 0x5851f42d4c957f2dULL;  ///< Hash places of different units apart.

}  // namespace

PairSample sample_pairs(const ir::Expr& mask, Lengths lengths, int64_t points, const MaskInputs& inputs, int threads) {
  const TileShape shape = split(points, lengths.sq, lengths.sk);
  const Strata rows(0, lengths.sq, shape.rows), cols(0, lengths.sk, shape.cols);
  std::vector<Points::Found> found(static_cast<size_t>(rows.count()));
  each_unit(mask, inputs, threads, rows.count(), [&](Points& mine, int64_t i) {
    put_grid(Strata(rows.begin(i), rows.size(i), 1), cols, static_cast<uint64_t>(i) * kSeedOfUnits, mine);
    found[static_cast<size_t>(i)] = mine.take();
  });
  Points::Found all{0, 0};
  for (const Points::Found& one : found) all.points += one.points, all.allowed += one.allowed;
  return {all.points, share(all.allowed, all.points)};
}

TileSample sample_tiles(const ir::Expr& mask, Lengths lengths, TileShape shape, int64_t tiles, const MaskInputs& inputs, int threads) {
  constexpr int64_t kMostSide = 256;
  const int64_t down = ceil_div(lengths.sq, shape.rows), across = ceil_div(lengths.sk, shape.cols);
  const TileShape wanted = split(tiles, down, across);
  const Strata rows(0, down, wanted.rows), cols(0, across, wanted.cols);
  const int64_t sampled = rows.count() * cols.count();
  std::vector<Points::Found> found(static_cast<size_t>(sampled));
  each_unit(mask, inputs, threads, sampled, [&](Points& mine, int64_t i) {
    const uint64_t seed = static_cast<uint64_t>(i) * kSeedOfUnits;
    const int64_t q = rows.at(i / cols.count(), seed) * shape.rows, k = cols.at(i % cols.count(), seed + 1) * shape.cols;
    const int64_t height = std::min(shape.rows, lengths.sq - q), width = std::min(shape.cols, lengths.sk - k);
    put_grid(Strata(q, height, kMostSide), Strata(k, width, kMostSide), seed + 2, mine);
    found[static_cast<size_t>(i)] = mine.take();
  });
  TileCounts counts;
  for (const Points::Found& one : found) counts.add(one.allowed, one.points, 1);
  const int64_t looked_at = std::min(shape.rows, kMostSide) * std::min(shape.cols, kMostSide);
  return {sampled, down * across, looked_at, share(counts.full, sampled), share(counts.partial, sampled), share(counts.empty, sampled)};
}

CellGrid sample_cells(const ir::Expr& mask, Lengths lengths, TileShape cell, int64_t points, const MaskInputs& inputs, int threads) {
  CellGrid grid{cell, ceil_div(lengths.sq, cell.rows), ceil_div(lengths.sk, cell.cols), {}};
  grid.allowed.resize(static_cast<size_t>(grid.rows * grid.cols));
  each_unit(mask, inputs, threads, grid.rows, [&](Points& mine, int64_t row) {
    const int64_t q = row * cell.rows, height = std::min(cell.rows, lengths.sq - q);
    for (int64_t col = 0; col < grid.cols; ++col) {
      const int64_t k = col * cell.cols, width = std::min(cell.cols, lengths.sk - k), at = row * grid.cols + col;
      const TileShape shape = split(points, height, width);
      put_grid(Strata(q, height, shape.rows), Strata(k, width, shape.cols), static_cast<uint64_t>(at) * kSeedOfUnits, mine);
      const Points::Found found = mine.take();
      const double part = static_cast<double>(found.allowed) / static_cast<double>(found.points);
      grid.allowed[static_cast<size_t>(at)] = std::llround(part * static_cast<double>(height) * static_cast<double>(width));
    }
  });
  return grid;
}

}  // namespace heddle::analysis
